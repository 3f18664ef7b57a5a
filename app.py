"""The app as one ASGI server: the pages, the desk, the forms. Start it with `streamlit run app.py`."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from evenhand.annotations.desk import routes as desk
from evenhand.core.files.sandbox import read_in_children
from evenhand.pages.ui.visitor import visit_of
from evenhand.web import account_pages, status, streamlit_patches, study_pages
from evenhand.web.connections import limit_connections
from evenhand.web.gate import Gate
from evenhand.web.lifespan import lifespan, worker_state
from evenhand.web.request_log import Watch
from evenhand.web.requests import below, old_address_routes

BASE = st.get_option("server.baseUrlPath") or ""
PAGE = Path(st.__file__).parent / "static" / "index.html"

read_in_children()
streamlit_patches.apply(visit_of)
limit_connections()
app = st.App(
    "pages/main.py",
    routes=below(
        BASE,
        [
            *desk.routes(),
            *account_pages.routes(),
            *study_pages.routes(),
            *status.routes(worker_state),
            *old_address_routes(),
        ],
    ),
    middleware=[
        Middleware(Watch, base=BASE),
        Middleware(Gate, page=PAGE, base=BASE, sessions_of=streamlit_patches.sessions_of),
    ],
    lifespan=lifespan,
)
