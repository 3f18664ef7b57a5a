"""The frame of every page: navigation, language, and what happens when a page meets a known error."""

import sqlite3
from pathlib import Path

import streamlit as st

from evenhand.annotations.database.pool import stores
from evenhand.annotations.permissions import OPEN, Person
from evenhand.core.errors import NOT_KEPT, UNWRITTEN, EvenhandError, Refused
from evenhand.core.language import LANGUAGES
from evenhand.pages.ui.head import show_error, unknown_address
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import zone_name
from evenhand.pages.ui.rail import show_rail
from evenhand.pages.ui.style import show_style
from evenhand.pages.ui.text import named, plain
from evenhand.pages.ui.visitor import may_open, show_who, visitor
from evenhand.web.page_script import page_script

BRAND = Path(__file__).parent / "_brand"
NAMES = {"zh": "中文", "en": "English"}

st.set_page_config(page_title="Evenhand", page_icon=str(BRAND / "icon.svg"), layout="wide")
st.logo(str(BRAND / "logo.svg"), icon_image=str(BRAND / "icon.svg"), size="large")


PAGES = [
    st.Page("home/page.py", title=_("Home"), icon=":material/home:", default=True),
    st.Page("projects/page.py", title=_("Projects"), icon=":material/folder_open:", url_path="projects"),
    st.Page("mining/page.py", title=_("Mine"), icon=":material/filter_alt:", url_path="mining"),
    st.Page("generation/page.py", title=_("Generate"), icon=":material/edit_note:", url_path="generation"),
    st.Page(
        "concordance/page.py", title=_("Concordance"), icon=":material/format_align_center:", url_path="concordance"
    ),
    st.Page("swap/page.py", title=_("Counterfactual texts"), icon=":material/swap_horiz:", url_path="swap"),
    st.Page("pilot/page.py", title=_("Pilot and guideline"), icon=":material/flag:", url_path="pilot"),
    st.Page("plan/page.py", title=_("Labelling plan"), icon=":material/event_note:", url_path="plan"),
    st.Page("review/page.py", title=_("Review"), icon=":material/rate_review:", url_path="review"),
    st.Page("adjudication/page.py", title=_("Adjudicate"), icon=":material/gavel:", url_path="adjudication"),
    st.Page("progress/page.py", title=_("Progress"), icon=":material/trending_up:", url_path="progress"),
    st.Page("agreement/page.py", title=_("Agreement"), icon=":material/handshake:", url_path="agreement"),
    st.Page("quality/page.py", title=_("Quality"), icon=":material/verified:", url_path="quality"),
    st.Page("describe/page.py", title=_("Data set statistics"), icon=":material/bar_chart:", url_path="describe"),
    st.Page("release/page.py", title=_("Release"), icon=":material/inventory_2:", url_path="release"),
    st.Page("browse/page.py", title=_("Browse"), icon=":material/search:", url_path="browse"),
    st.Page("record/page.py", title=_("My record"), icon=":material/history:", url_path="record"),
    st.Page("guideline/page.py", title=_("Guideline"), icon=":material/menu_book:", url_path="guideline"),
    st.Page(
        "human_vs_rule/page.py", title=_("Human vs. automatic rule"), icon=":material/rule:", url_path="human-vs-rule"
    ),
    st.Page("judges/page.py", title=_("Judges"), icon=":material/smart_toy:", url_path="judges"),
    st.Page("study/page.py", title=_("Online studies"), icon=":material/link:", url_path="study"),
    st.Page("sentence_bias/page.py", title=_("Try a sentence"), icon=":material/balance:", url_path="sentence-bias"),
    st.Page("scoring/page.py", title=_("Score a file"), icon=":material/playlist_play:", url_path="scoring"),
    st.Page(
        "model_bias/page.py", title=_("Models side by side"), icon=":material/compare_arrows:", url_path="model-bias"
    ),
    st.Page("tune/page.py", title=_("Tune a model"), icon=":material/model_training:", url_path="tune"),
    st.Page("before_after/page.py", title=_("Before and after"), icon=":material/compare:", url_path="before-after"),
    st.Page("ruler/page.py", title=_("Reference scale"), icon=":material/straighten:", url_path="ruler"),
    st.Page(
        "published/page.py", title=_("Check of published numbers"), icon=":material/fact_check:", url_path="published"
    ),
    st.Page("association/page.py", title=_("Professions"), icon=":material/work:", url_path="association"),
    st.Page("nli/page.py", title=_("NLI bias"), icon=":material/alt_route:", url_path="nli"),
    st.Page(
        "misgendering/page.py", title=_("Misgendering"), icon=":material/record_voice_over:", url_path="misgendering"
    ),
    st.Page(
        "other_measures/page.py", title=_("Other measures"), icon=":material/square_foot:", url_path="other-measures"
    ),
    st.Page("jobs/page.py", title=_("Jobs"), icon=":material/schedule:", url_path="jobs"),
    st.Page("accounts/page.py", title=_("Accounts"), icon=":material/group:", url_path="accounts"),
    st.Page("about/page.py", title=_("About"), icon=":material/info:", url_path="about"),
]


def who_looks() -> Person:
    """The visitor; somebody who comes back as another person starts anew. Without a database now: nobody."""
    try:
        with stores.borrow() as store:
            person = visitor(store)
    except (EvenhandError, sqlite3.Error):
        return OPEN  # each page says by itself that there is no database; nothing can be read from it
    # A session of Streamlit can be continued under its id: what stands in it is for the person who filled it.
    if st.session_state.setdefault("account", person.account) != person.account:
        st.session_state.clear()
        st.rerun()
    return person


def keep_language() -> None:
    """Put the chosen language into the address, so that a link that is sent on opens in it."""
    st.query_params["lang"] = st.session_state["language"]


person = who_looks()
pages = [one for one in PAGES if may_open(person, one.url_path)]
page = st.navigation(pages, position="hidden")  # pages.ui.rail draws what leads to them
st.session_state["open_pages"] = {one.url_path for one in pages}
st.session_state["page_address"] = page.url_path
# First of all, so that it is there when the page writes into its address.
# A screen reader picks its voice, and a font its shapes of Chinese characters, by this attribute.
CODE = "zh-CN" if language() == "zh" else "en"
st.html(f"<script>{page_script(CODE, chosen='lang' in st.query_params)}</script>", unsafe_allow_javascript=True)
with st.sidebar:
    show_rail(page.url_path)
    st.segmented_control(
        _("Language"),
        LANGUAGES,
        format_func=NAMES.__getitem__,
        key="language",
        required=True,
        on_change=keep_language,
        label_visibility="collapsed",
    )
    show_who(person)
    st.caption(plain(named(_("Time zone"), zone_name())))

show_style()
if unknown := unknown_address(st.context.url, page.url_path, st.get_option("server.baseUrlPath") or ""):
    st.warning(plain(_("There is no page {name}. This is the home page.").format(name=f"/{unknown}")))
try:
    page.run()
except EvenhandError as error:
    show_error(error)
except OSError as error:
    if error.errno not in UNWRITTEN:
        raise
    show_error(Refused(NOT_KEPT, why=error.strerror))
