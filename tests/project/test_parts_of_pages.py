"""Each part of a page that changes data checks the permission, and each opening of a database names its project."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.scan

ROOT = Path(__file__).resolve().parents[2]
Place = tuple[str, str]  # module, name of a function
# These change something and need no part: why.
OWN_WAY = {
    "pages.accounts.page: make_first": "asks for the open mode",
    "pages.accounts.people: _end": "the own account of the visitor",
    "pages.accounts.people: _end_all": "the own account of the visitor",
    "pages.accounts.people: _new_password": "the own account of the visitor",
    "pages.accounts.people: _erase": "asks whether the visitor owns the server",
    "pages.accounts.people: _scrub": "asks whether the visitor owns the server",
    "pages.accounts.people: _owner": "notes when the sign-in was last seen",
    "pages.accounts.people: _act": "asks `manages` and `roles_to_give` of this account and project",
    "pages.accounts.people: _invite": "asks `roles_to_give` in this project",
    "pages.accounts.people: _withdraw_invitation": "asks `roles_to_give` in the project of the invitation",
    "pages.study.study: _make": "asks in the project of the form",
    "pages.study.study: _act": "asks in the project of the study",
    "pages.study.study: _close": "called by _act",
    "pages.study.study: _change_consent": "called by _act",
    "pages.study.study: _withdraw": "called by _act",
    "pages.study.study: _show_as_it_goes": "asks in the project of the study",
    "pages.ui.jobs: _change": "asks whether the job is the visitor's to see",
    "pages.ui.jobs: start_job": "called by parts only",
    "pages.ui.jobs: every_job_of": "notes which processes have ended",
    "pages.ui.uploads: _keep": "a file of the visitor's own session; open_store asks for the page",
    "pages.ui.visitor: own_new_project": "called by parts that create",
    "pages.ui.visitor: visitor": "notes when the sign-in was last seen",
    "pages.agreement.disagreements: list_items": "notes that the reader has seen labels; called by parts only",
    "pages.agreement.disagreements: _table": "notes that the reader has seen labels; open_store asks",
    "pages.human_vs_rule.differences: _file": "notes that the reader has seen labels; open_store asks",
    "pages.home.view: _counted": "counts",
}


@cache
def tree(module: str) -> ast.Module | None:
    for file in (ROOT / f"{module.replace('.', '/')}.py", ROOT / module.replace(".", "/") / "__init__.py"):
        if file.is_file():
            return ast.parse(file.read_text(encoding="utf-8"))
    return None


@cache
def imports(module: str) -> dict[str, Place]:
    result = tree(module)
    nodes = [node for node in ast.walk(result) if isinstance(node, ast.ImportFrom)] if result else []
    return {
        alias.asname or alias.name: ((node.module or "").removeprefix("evenhand."), alias.name)
        for node in nodes
        for alias in node.names
    }


@cache
def functions(module: str) -> dict[str, ast.FunctionDef]:
    result = tree(module)
    return {node.name: node for node in ast.walk(result) if isinstance(node, ast.FunctionDef)} if result else {}


@cache
def place_of(module: str, name: str, depth: int = 5) -> Place:
    """Return the place where a name that a module uses is defined, through modules that re-export it."""
    if name in functions(module) or name not in imports(module) or not depth:
        return module, name
    return place_of(*imports(module)[name], depth - 1)


def calls(module: str, node: ast.AST) -> Iterator[Place]:
    """Yield every function of this project that *node* calls or passes on."""
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name) and child.value.id in imports(module):
            source, name = imports(module)[child.value.id]
            yield place_of(f"{source}.{name}", child.attr)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            yield place_of(module, child.id)


def modules(layer: str) -> list[str]:
    return [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in (ROOT / layer).rglob("*.py")]


def opens_a_transaction(node: ast.AST) -> bool:
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "write"
        and not call.args
        for call in ast.walk(node)
    )


@cache
def writers() -> set[Place]:
    """Return functions of annotations that write to the database, or call one that does."""
    every = {(module, name): node for module in modules("annotations") for name, node in functions(module).items()}
    reaches = {place: set(calls(place[0], node)) & every.keys() for place, node in every.items()}
    results = {place for place, node in every.items() if opens_a_transaction(node)}
    results -= {place for place in results if place[0] == "annotations.accounts.sign_ins" and place[1] == "signed_in"}
    while more := {place for place in every.keys() - results if reaches[place] & results and not of_the_store(place)}:
        results |= more
    return {place for place in results if not of_the_store(place)}


def of_the_store(place: Place) -> bool:
    return place[0].startswith("annotations.database") or place == ("annotations.accounts.sign_ins", "signed_in")


def asks(node: ast.FunctionDef) -> bool:
    """Return True for a part, or a function that opens the database for an action in a project."""
    opened = [call for call in ast.walk(node) if isinstance(call, ast.Call) and ast.unparse(call.func) == "open_store"]
    return any("asks" in ast.unparse(decorator) for decorator in node.decorator_list) or any(
        len(call.args) == 2 for call in opened
    )


def outermost(module: str) -> list[ast.FunctionDef]:
    result = tree(module)
    return [node for node in result.body if isinstance(node, ast.FunctionDef)] if result else []


def unguarded() -> set[str]:
    """Return the functions of pages that call a writer and are not a part."""
    return {
        f"{module}: {node.name}"
        for module in modules("pages")
        for node in outermost(module)
        if not asks(node) and set(calls(module, node)) & writers()
    }


def test_functions_of_pages_that_write_check_the_permission() -> None:
    assert sorted(unguarded() - OWN_WAY.keys()) == []


def test_running_a_page_writes_nothing() -> None:
    """But that a reader has seen labels is noted on the page Adjudicate."""
    scripts = [module for module in modules("pages") if module.endswith(".page")]
    results = set()
    for module in scripts:
        script = tree(module)
        assert script is not None
        loose = ast.Module([node for node in script.body if not isinstance(node, ast.FunctionDef)], [])
        results |= {f"{module}: {name}" for source, name in calls(module, loose) if (source, name) in writers()}
    assert results <= {"pages.adjudication.page: record_item_reveals"}


def test_the_search_for_writers_works() -> None:
    names = {name for _module, name in writers()}
    assert {"change_project", "decide_case", "start_pilot", "invite_link", "add_annotators", "start"} <= names
    assert not {"project", "projects", "counts", "guideline", "items"} & names
    assert {"pages.ui.jobs: _change", "pages.accounts.people: _act"} <= unguarded()


def forgetful(node: ast.AST, names: frozenset[str] = frozenset()) -> Iterator[int]:
    """Yield lines with an open_store() without a project inside a function that has one."""
    for child in ast.iter_child_nodes(node):
        own = names
        if isinstance(child, ast.FunctionDef | ast.Lambda):
            own = names | {argument.arg for argument in (*child.args.args, *child.args.kwonlyargs)}
        if isinstance(child, ast.Call) and ast.unparse(child) == "open_store()" and own & {"project", "_project"}:
            yield child.lineno
        yield from forgetful(child, own)


def test_a_store_opened_for_a_project_names_it() -> None:
    wrong = {
        module: lines
        for module in modules("pages")
        if (node := tree(module)) and (lines := list(forgetful(node))) and module != "pages.accounts.people"
    }
    assert wrong == {}
    assert list(forgetful(ast.parse("def part(project):\n    with open_store() as store: pass"))) == [2]


WIDGETS = {
    *("text_input", "text_area", "number_input", "selectbox", "multiselect", "slider", "select_slider", "checkbox"),
    *("toggle", "radio", "segmented_control", "pills", "date_input", "time_input", "chat_input", "data_editor"),
    *("choose", "choose_model", "choose_models", "choose_server"),
}


def drawn_values(function: ast.AST) -> set[str]:
    """Return the names in a function that contain the value of a widget, or a value made from it."""
    results: set[str] = set()
    given = [(n.targets if isinstance(n, ast.Assign) else [n.target], n.value) for n in ast.walk(function)
             if isinstance(n, ast.Assign | ast.AnnAssign | ast.NamedExpr) and n.value is not None]  # fmt: skip
    for _again in range(3):
        for targets, value in given:
            parts = list(ast.walk(value))
            calls = {getattr(n.func, "attr", getattr(n.func, "id", "")) for n in parts if isinstance(n, ast.Call)}
            if calls & WIDGETS or {n.id for n in parts if isinstance(n, ast.Name)} & results:
                results |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return results


def stale_callbacks(source: str) -> list[int]:
    """Return the lines of callbacks that get a widget's value as of the drawing of the page.

    Text typed later and ended by the click would be lost.
    """
    results = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        drawn = drawn_values(function)
        for call in ast.walk(function):
            given = {keyword_.arg: keyword_.value for keyword_ in call.keywords} if isinstance(call, ast.Call) else {}
            if given.keys() & {"on_click", "on_change"}:
                parts = [given[name] for name in ("on_click", "on_change", "args", "kwargs") if name in given]
                if drawn & {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}:
                    results.append(call.lineno)
    return results


def test_a_callback_reads_inputs_at_the_click() -> None:
    assert stale_callbacks("def f():\n name = st.text_input('')\n st.button('', on_click=g, args=(name,))") == [3]
    assert stale_callbacks("def f():\n st.text_input('', key='a')\n st.button('', on_click=g, args=(1,))") == []
    assert not {(str(file.relative_to(ROOT)), line) for file in (ROOT / "pages").rglob("*.py")
                for line in stale_callbacks(file.read_text(encoding="utf-8"))}  # fmt: skip


def test_switches_have_no_help_sign() -> None:
    """Streamlit draws the sign inside the label, where a click on it flips the switch: `pages.ui.choose.switch`."""
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in sorted((ROOT / "pages").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in {"toggle", "checkbox", "radio"} and any(word.arg == "help" for word in node.keywords)
    ]
    assert not wrong
