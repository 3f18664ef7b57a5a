"""Papers of a project from templates: blocks, written as Markdown or LaTeX. Releases and data sheets use them."""
