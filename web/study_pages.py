"""The pages of a study, for people who come by its link: no account, no session of Streamlit, plain HTML and one desk.

Nothing is stored before a visitor agrees, so the preview of a mail program and a look around leave no trace.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.desk.frontend import option_name
from evenhand.annotations.desk.routes import PATH
from evenhand.annotations.projects.consent import NAMES, TEXTS
from evenhand.annotations.projects.projects import guideline, project_by_uid
from evenhand.annotations.study import people
from evenhand.annotations.study.people import Outside, Participant, watched, withdraw
from evenhand.annotations.study.studies import (
    PARAMETERS,
    PREVIEW,
    TRIES,
    Study,
    consent,
    questions_of_try,
    study_of_link,
)
from evenhand.core.errors import N_, EvenhandError, NotAllowed, NotFound, Refused
from evenhand.core.guidelines import in_language
from evenhand.core.language import Language, explain, translate
from evenhand.web import sign_in_limits
from evenhand.web.account_pages import HERE, rendered
from evenhand.web.gate import SECURE_STUDY_COOKIE, STUDY_COOKIE, study_secrets
from evenhand.web.requests import client_address, folder, is_secure, keep_secret, language_of, too_often, with_store

LONGEST_ID = 100
NO_ID = N_(
    "This address does not show where you came from. Open the study from the page of the platform that invited you."
)
ONLY_PREVIEW = N_("This is a preview. Accept the task first, then open the link again.")
UNANSWERED = N_("Open and answer every text first. This did not count as an attempt.")
CHANGED = N_("The consent form changed while you were reading it. Please read it again.")
ENDS = {
    "finished": N_("Thank you. You have judged all texts."),
    "screened_out": N_(
        "Thank you. Your test answers did not reach the number required for this study. This is no judgement of you."
    ),
    "withdrew": N_("You have withdrawn. Your labels no longer count."),
    "timed_out": N_(
        "You were inactive for too long, so your place was given to another participant. Your earlier labels"
        " still count."
    ),
}
TITLES = {
    "consent": N_("Before you take part"),
    "test": N_("A short test"),
    "ready": N_("Before the first text"),
    "working": N_("Study"),
    "end": N_("The end"),
    "withdraw": N_("Withdraw"),
    "about": N_("What is stored"),
}
RETURN = "https://app.prolific.com/submissions/complete?cc="


@dataclass(frozen=True, slots=True)
class Visit:
    """One request to a study. `who`: the participant, None before they agree; `sent`: the fields of a form."""

    store: Store
    study: Study
    link: str
    who: Participant | None
    language: Language
    query: dict[str, str]
    sent: dict[str, str]
    folder: str

    def say(self, text: str) -> str:
        """Return a text in the visitor's language."""
        return translate(text, self.language)


@dataclass(frozen=True, slots=True)
class Reply:
    """A page with its values; without one, back to the study. `secret`: for the cookie."""

    template: str = ""
    status: int = 200
    values: dict[str, Any] | None = None
    secret: str = ""
    data: dict[str, Any] | None = None


def routes() -> list[Route]:
    """Return the routes of studies."""

    def route(path: str, work: Callable[[Visit], Reply], method: str) -> Route:
        return Route(f"/study/{{link}}{path}", _endpoint(work), methods=[method])

    return [
        Route("/study/files/{name}", static),
        route("", first_page, "GET"),
        route("/about", about_page, "GET"),
        route("/desk.json", desk_data, "GET"),
        route("/withdraw", withdraw_page, "GET"),
        route("/consent", agree_form, "POST"),
        route("/test", answers_form, "POST"),
        route("/begin", begin_form, "POST"),
        route("/finish", finish_form, "POST"),
        route("/withdraw", withdraw_form, "POST"),
        Route("/study/{rest:path}", nothing),
    ]


async def static(request: Request) -> Response:
    """Return the style and the scripts of the pages; `desk.js` is the desk's module."""
    name = request.path_params["name"]
    if name == "desk.js":
        return Response(frontend.script(), media_type="text/javascript")
    kinds = {"study.css": "text/css", "study.js": "text/javascript"}
    if name not in kinds:
        return await nothing(request)
    return FileResponse(HERE / "static" / name, media_type=f"{kinds[name]}; charset=utf-8")


async def nothing(request: Request) -> Response:
    """Answer an unknown address below /study/."""
    return HTMLResponse("", 404, {"Cache-Control": "no-store"})


def _endpoint(work: Callable[[Visit], Reply]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        sent: dict[str, str] = {}
        if request.method == "POST":
            form = await request.form(max_files=0, max_fields=64)
            sent = {name: value for name, value in form.items() if isinstance(value, str)}
            if work is agree_form and not sign_in_limits.admit_to_study(client_address(request)):
                title = too_often(request, study=True)
                return _page(request, Reply("study_end.html", 429, {"title": title}))
        try:
            return await with_store(_answer, work, request, sent)
        except EvenhandError as error:
            status = 404 if isinstance(error, NotFound) else 403 if isinstance(error, NotAllowed | Refused) else 503
            return _page(request, Reply("study_end.html", status, {"title": explain(error, language_of(request))}))

    return endpoint


def _answer(store: Store, work: Callable[[Visit], Reply], request: Request, sent: dict[str, str]) -> Response:
    link, language = str(request.path_params["link"]), language_of(request)
    study = study_of_link(store, link)
    who = people.participant(store, study, study_secrets(request.scope["headers"]))
    reply = work(Visit(store, study, link, who, language, dict(request.query_params), sent, folder(request)))
    if reply.data is not None:
        return JSONResponse(reply.data, reply.status, {"Cache-Control": "no-store"})
    if reply.template:
        values = {"link": link, "study": study, "who": who, "title": study.name, **(reply.values or {})}
        return _page(request, Reply(reply.template, reply.status, values))
    address = f"{folder(request)}/study/{link}?lang={language}"
    response = RedirectResponse(address, 303, {"Cache-Control": "no-store"})
    if reply.secret:
        prefix = SECURE_STUDY_COOKIE if is_secure(request) else STUDY_COOKIE
        keep_secret(request, response, f"{prefix}{study.uid[:8]}", reply.secret)
    return response


def _page(request: Request, reply: Reply) -> Response:
    kept = {name: value for name, value in request.query_params.items() if name != "lang"}
    query = f"{urlencode(kept)}&" if kept and request.method == "GET" else ""
    return rendered(request, reply.template, reply.status, query=query, **(reply.values or {}))


def first_page(at: Visit) -> Reply:
    """Return the page for the visitor's step in the study: consent, test, warning, desk, or the end."""
    if at.who is None:
        return _consent_page(at)
    if at.who.ended is not None:
        return _end_page(at, at.who)
    people.sweep(at.store, at.study, at.who, seen=watched.seconds())
    who = people.participant_again(at.store, at.study, at.who)
    if who.ended is not None:
        return _end_page(at, who)
    if who.state == "test":
        return _test_page(at, who)
    project = project_by_uid(at.store, at.study.project)
    if who.state == "ready":
        values = {
            "title": at.say(TITLES["ready"]),
            "warning": at.study.warning(at.language),
            "items": at.study.settings.items,
        }
        return Reply("study_ready.html", values=values)
    return Reply("study_desk.html", values={"title": at.study.name, "project": project})


def _consent_page(at: Visit, problem: str = "") -> Reply:
    outside = _outside(at.study, at.query | at.sent)
    if at.study.closed:
        raise Refused(people.FULL)
    names = PARAMETERS[at.study.service]
    if at.study.service == "mturk" and outside is not None and outside.session == PREVIEW:
        problem = at.say(ONLY_PREVIEW)
    newest = consent(at.store, at.study)
    values = {
        "title": at.say(TITLES["consent"]),
        "blocks": frontend.blocks(newest.text(at.language)),
        "version": newest.version,
        "uses": [(use, at.say(NAMES[use]), at.say(TEXTS[use])) for use in newest.uses],
        "outside": dict(zip(names, outside, strict=True)) if outside else {},
        "warning": at.study.warning(at.language),
        "problem": problem or (at.say(NO_ID) if names[0] and outside is None else ""),
        "may": not names[0] or (outside is not None and outside.session != PREVIEW),
    }
    return Reply("study_consent.html", 200, values)


def _outside(study: Study, sent: dict[str, str]) -> Outside | None:
    """Return who the visitor is for the service; None if the address names no id or an invalid one."""
    names = PARAMETERS[study.service]
    outside = Outside(*(sent.get(name, "") if name else "" for name in names))
    if not outside.id or any(
        len(text) > LONGEST_ID or not text.isascii() or not text.isprintable() for text in outside
    ):
        return None
    return outside


def agree_form(at: Visit) -> Reply:
    """Store that the visitor agrees, the first thing stored about them; show the form again if it cannot be stored."""
    if at.who is not None:
        return Reply()
    outside = _outside(at.study, at.sent)
    needed = bool(PARAMETERS[at.study.service][0])
    if (needed and outside is None) or (outside is not None and outside.session == PREVIEW):
        return _consent_page(at)
    newest = consent(at.store, at.study)
    if at.sent.get("version") != str(newest.version):
        return _consent_page(at, at.say(CHANGED))
    uses = [use for use in newest.uses if at.sent.get(f"use-{use}") == "yes"]
    secret = people.agree(at.store, at.study, newest, at.language, outside, given=uses, seen=watched.seconds())
    return Reply(secret=secret)


def _test_page(at: Visit, who: Participant, answers: Mapping[str, str] | None = None, problem: str = "") -> Reply:
    project = project_by_uid(at.store, at.study.project)
    newest = guideline(at.store, project)
    values = {
        "title": at.say(TITLES["test"]),
        "blocks": frontend.blocks(in_language(newest.text, at.language)),
        "choices": [(choice.code, option_name(choice, at.language)) for choice in newest.choices],
        "questions": questions_of_try(at.store, at.study, who.uid, who.tries),
        "who": who,
        "left": TRIES - who.tries,
        "answers": answers or {},
        "problem": problem,
        "warning": at.study.warning(at.language),
    }
    return Reply("study_test.html", values=values)


def answers_form(at: Visit) -> Reply:
    """Store one try of the test; a form with an unopened or unanswered text does not count as a try."""
    if at.who is not None and at.who.state == "test" and at.sent.get("try") == str(at.who.tries):
        answers = {name.removeprefix("q"): value for name, value in at.sent.items() if name.startswith("q")}
        if any(
            str(question.id) not in answers
            for question in questions_of_try(at.store, at.study, at.who.uid, at.who.tries)
        ):
            return _test_page(at, at.who, answers, at.say(UNANSWERED))
        people.answer_test(at.store, at.study, at.who, answers)
    return Reply()


def begin_form(at: Visit) -> Reply:
    """Begin the desk, after the warning has been read."""
    if at.who is not None and at.who.state == "ready":
        people.begin(at.store, at.study, at.who)
    return Reply()


def desk_data(at: Visit) -> Reply:
    """Return the data that the desk starts with, also after its token has expired; 409 if the person is not at work."""
    if at.who is None or at.who.state != "working":
        return Reply(data={}, status=409)
    project, annotator = people.desk_of(at.store, at.study, at.who)
    data = frontend.start_data(at.store, project, annotator, language=at.language, api=f"{at.folder}{PATH}")
    settings = at.study.settings
    data["project"] |= {"pause": settings.pause, "blur": settings.cover or project.blur, "name": at.study.name}
    frame = f"<style>{frontend.style()}</style>{frontend.frame()}"
    return Reply(data={"frame": frame, "data": data})


def finish_form(at: Visit) -> Reply:
    """Finish the part of a participant who has judged all texts."""
    if at.who is not None:
        try:
            people.finish(at.store, at.study, at.who)
        except Refused as error:
            return Reply("study_desk.html", 409, {"title": at.study.name, "problem": explain(error, at.language)})
    return Reply()


def withdraw_page(at: Visit) -> Reply:
    """Return the page with a button to withdraw: opening an address must not withdraw a participant."""
    if at.who is None:
        return Reply()
    return Reply("study_withdraw.html", values={"title": at.say(TITLES["withdraw"])})


def withdraw_form(at: Visit) -> Reply:
    """Withdraw the labels of this participant."""
    if at.who is not None and at.who.state != "withdrew":
        withdraw(at.store, at.study, at.who)
    return Reply()


def about_page(at: Visit) -> Reply:
    """Return the page that lists which data of participants are stored, and for how long."""
    return Reply("study_about.html", values={"title": at.say(TITLES["about"]), "consent": consent(at.store, at.study)})


def _end_page(at: Visit, who: Participant) -> Reply:
    code = at.study.code(who.outcome) if who.outcome else ""
    back = f"{RETURN}{code}" if code and at.study.service == "prolific" else ""
    values = {"title": at.say(TITLES["end"]), "text": at.say(ENDS[who.state]), "code": code, "back": back, "who": who}
    return Reply("study_end.html", values=values)
