"""The server's door: the pages, and the desk's routes in the same process. `streamlit run app.py`."""

import streamlit as st

app = st.App("pages/main.py")
