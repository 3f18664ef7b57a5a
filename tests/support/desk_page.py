"""The desk on a page of its own, without Streamlit: its real files, the real routes, a real database.

`python -m tests.support.desk_page PORT` serves EVENHAND_DB at the addresses of the app, in a third of a second instead
of four. What it does in the place of Streamlit: it mounts the component in a shadow root, gives it its data and the
colours of the theme, and gives it new data when the desk requests them. `app_desks` are the desks in the app.
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.desk.routes import PATH, routes
from evenhand.annotations.projects.projects import annotator, project
from evenhand.core.language import LANGUAGES, Language

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Review</title>
<style>
  :root {{ color-scheme: light dark; --st-font: {font}; }}
  @media (prefers-color-scheme: light) {{ :root {{ {light} }} }}
  @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
  body {{
    margin: 0; padding: 3.5rem 1rem; font-family: var(--st-font);
    background: var(--st-background-color); color: var(--st-text-color);
  }}
</style>
<main data-testid="stMain"><div></div></main>
<script type="module">
  import component from "/desk.js";
  const parentElement = document.querySelector("main div").attachShadow({{ mode: "open" }});
  parentElement.innerHTML = {frame};
  const ask = async () => (await fetch(`/desk.json${{location.search}}`)).json();
  const setTriggerValue = async () => component({{ data: await ask(), parentElement, setTriggerValue }});
  component({{ data: {data}, parentElement, setTriggerValue }});
</script>
"""


def colours(theme: dict[str, Any]) -> str:
    """Return the custom properties that Streamlit sets for a theme."""
    names = {"backgroundColor": "background-color", "textColor": "text-color", "primaryColor": "primary-color"}
    return " ".join(f"--st-{name}: {theme[key]};" for key, name in names.items())


def in_script(value: Any) -> str:
    """Return a value as JavaScript inside a page: no text ends the script."""
    return json.dumps(value).replace("<", "\\u003c")


def opening(request: Request) -> dict[str, Any]:
    """Return the initial data of the desk named in the address."""
    query = request.query_params
    language: Language = query["lang"] if query.get("lang") in LANGUAGES else "en"
    with Store.open() as store:
        stored = project(store, query["project"])
        return frontend.start_data(
            store, stored, annotator(store, stored, query["annotator"]), language=language, api=PATH
        )


def review(request: Request) -> Response:
    """Return the page Review with a desk on it."""
    frame = f"<style>{frontend.style()}</style>{frontend.frame()}"
    parts = {"frame": in_script(frame), "data": in_script(opening(request))}
    theme = {name: colours(THEME[name]) for name in ("light", "dark")}
    return HTMLResponse(PAGE.format(font=THEME["font"], **theme, **parts), headers={"Cache-Control": "no-store"})


def script(_request: Request) -> Response:
    """Return the desk's JavaScript."""
    return Response(frontend.script(), media_type="text/javascript")


def data(request: Request) -> Response:
    """Return new data for an open desk, as a rerun of the page would send them."""
    return JSONResponse(opening(request))


def health(_request: Request) -> Response:
    """Answer at Streamlit's address for health checks."""
    return PlainTextResponse("ok")


PAGES = {"/review": review, "/desk.js": script, "/desk.json": data, "/_stcore/health": health}

if __name__ == "__main__":
    app = Starlette(routes=[*routes(), *(Route(path, answer) for path, answer in PAGES.items())])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
