"""Papers of a project: blocks, and how they become Markdown or LaTeX. Releases and data sheets are made of them."""
