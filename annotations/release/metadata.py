"""Machine-readable descriptions of a release: Croissant 1.1 with RAI, Frictionless Data Package, CITATION.cff, Zenodo.

They state what the records state: facts of `release.json`, numbers of the catalogue by id, and the files with their
sums. Files that may only be exported encrypted are not described, because readers do not have them in plain.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.annotations.papers.blocks import one_line
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import estimate_of, written
from evenhand.annotations.release.dataset_card import DATA, Columns, licence_id
from evenhand.annotations.release.stored_releases import FrozenFile, freeze, pretty

CROISSANT, DATA_PACKAGE, CITATION, ZENODO = "croissant.json", "datapackage.json", "CITATION.cff", ".zenodo.json"
NAMES = (CROISSANT, DATA_PACKAGE, CITATION, ZENODO)
Facts = Mapping[str, Any]
# Licences by their names on the hub: the identifier of SPDX.
SPDX = {
    "cc-by-4.0": "CC-BY-4.0", "cc-by-sa-4.0": "CC-BY-SA-4.0", "cc-by-nc-4.0": "CC-BY-NC-4.0",
    "cc-by-nc-sa-4.0": "CC-BY-NC-SA-4.0", "cc-by-nd-4.0": "CC-BY-ND-4.0", "cc-by-nc-nd-4.0": "CC-BY-NC-ND-4.0",
    "cc0-1.0": "CC0-1.0", "mit": "MIT", "apache-2.0": "Apache-2.0", "odc-by": "ODC-By-1.0", "odbl": "ODbL-1.0",
    "gpl-3.0": "GPL-3.0-only",
}  # fmt: skip
ZENODO_LANGUAGES = {"zh": "zho", "en": "eng", "es": "spa", "eu": "eus", "ja": "jpn"}
MEDIA_TYPES = {
    "csv": "text/csv", "html": "text/html", "json": "application/json", "jsonl": "application/jsonlines",
    "md": "text/markdown", "parquet": "application/vnd.apache.parquet", "tex": "application/x-tex",
    "xml": "application/xml",
}  # fmt: skip
CONTRIBUTORS = "Contributors to "
KEYWORDS = ("gender", "bias", "gender-neutral language", "annotation")
DESCRIBED = ("items.kept", "items.reviewed", "labels.valid")
ANALYSED = (
    *("agreement.full.reviewed", "agreement.full.labelled", "agreement.pairwise.labelled"),
    *("agreement.fleiss.labelled", "agreement.alpha.labelled", "agreement.ac1.labelled", "retest.agreement"),
)
# The context that the specification of Croissant 1.1 gives.
CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "arrayShape": "cr:arrayShape", "citeAs": "cr:citeAs",
    "column": "cr:column", "conformsTo": "dct:conformsTo", "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty", "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes", "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5",
    "name": {"@container": "@language"}, "parentField": "cr:parentField", "path": "cr:path",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
CROISSANT_TYPES = {"string": "sc:Text", "int64": "sc:Integer"}
TABLE_TYPES = {"string": "string", "int64": "integer"}


def metadata_files(
    facts: Facts, files: Sequence[FrozenFile], columns: Columns, held: Mapping[str, str], *, labels_name: str
) -> Iterator[FrozenFile]:
    """Yield the four descriptions of *files*, those that leave in plain.

    *columns*: of the kept items, empty if these are not among *files*. *held*: file -> its contents in words.
    """
    yield freeze(CROISSANT, [pretty(croissant(facts, files, columns, held, labels_name))])
    yield freeze(DATA_PACKAGE, [pretty(data_package(facts, files, columns, held))])
    yield freeze(CITATION, [citation(facts)])
    yield freeze(ZENODO, [pretty(zenodo(facts, labels_name))])


def croissant(
    facts: Facts, files: Sequence[FrozenFile], columns: Columns, held: Mapping[str, str], labels_name: str
) -> dict[str, Any]:
    """Return the release as a dataset of Croissant 1.1, with the fields of RAI that the records answer."""
    project, release = facts["project"], facts["release"]
    spdx = _spdx(facts)
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": _title(facts),
        "description": description(facts, labels_name),
        "license": f"https://spdx.org/licenses/{spdx}.html" if spdx else one_line(project["licence"]),
        "creator": [_agent(name) for name in creators(facts)],
        "datePublished": release["created"][:10],
        "inLanguage": project["language"],
        "keywords": list(KEYWORDS),
        "version": release["version"],
        "isLiveDataset": False,
        "citeAs": cited(facts),
        "distribution": [_file_object(file, held.get(file.name, "")) for file in files],
        "recordSet": [_record_set(columns)] if columns else [],
        "rai:dataCollection": project["source_statement"],
        "rai:dataAnnotationProtocol": protocol(facts),
        "rai:dataAnnotationPlatform": [f"Evenhand {facts['app']}"],
        "rai:annotationsPerItem": str(project["per_item"]),
        "rai:dataAnnotationAnalysis": list(_stated(facts, ANALYSED, labels_name)),
        "rai:annotatorDemographics": ["annotator_card.en.md"],
        "rai:dataLimitations": ["datasheet.en.md"],
    }


def data_package(
    facts: Facts, files: Sequence[FrozenFile], columns: Columns, held: Mapping[str, str]
) -> dict[str, Any]:
    """Return the release as a Frictionless Data Package; the kept items have a schema, other files sum and size."""
    resources = []
    for file in files:
        ending = file.name.rpartition(".")[2]
        resource: dict[str, Any] = {
            "name": _slug(file.name), "path": file.name, "hash": f"sha256:{file.sha256}", "bytes": file.size,
            "mediatype": MEDIA_TYPES.get(ending, "text/plain"),
        }  # fmt: skip
        resource |= {"description": held[file.name]} if held.get(file.name) else {}
        resource["type"] = "file"
        if file.name == DATA and columns:
            fields = [{"name": name, "type": TABLE_TYPES[kind]} for name, kind in columns]
            resource |= {"type": "table", "format": "jsonl", "encoding": "utf-8", "schema": {"fields": fields}}
        resources.append(resource)
    licence = facts["project"]["licence"]
    return {
        "name": _slug(f"{facts['project']['name']}-{facts['release']['version']}"),
        "title": _title(facts),
        "version": facts["release"]["version"],
        "created": facts["release"]["created"],
        "licenses": [{"name": _spdx(facts) or "other", "title": one_line(licence)}],
        "contributors": [{"title": name, "role": "author"} for name in creators(facts)],
        "keywords": list(KEYWORDS),
        "resources": resources,
    }


def citation(facts: Facts) -> str:
    """Return CITATION.cff; JSON strings are valid in YAML."""
    spdx = _spdx(facts)
    people = [_cff_person(name) for name in creators(facts)]
    lines = [
        "cff-version: 1.2.0",
        "message: If you use this data set, please cite it as below.",
        "type: dataset",
        f"title: {_quoted(_title(facts))}",
        "authors:",
        *(f"  - {line}" if first else f"    {line}" for person in people for first, line in person),
        f"version: {_quoted(facts['release']['version'])}",
        f"date-released: {facts['release']['created'][:10]}",
        *([f"license: {spdx}"] if spdx else []),
        "keywords:",
        *(f"  - {_quoted(word)}" for word in KEYWORDS),
    ]
    return "\n".join(lines) + "\n"


def zenodo(facts: Facts, labels_name: str) -> dict[str, Any]:
    """Return the metadata of a deposit at Zenodo."""
    known = licence_id(facts["project"]["licence"])
    language = ZENODO_LANGUAGES.get(facts["project"]["language"])
    return {
        "title": _title(facts),
        "upload_type": "dataset",
        "description": description(facts, labels_name),
        "creators": [{"name": name} for name in creators(facts)],
        "version": facts["release"]["version"],
        "keywords": list(KEYWORDS),
        **({"language": language} if language else {}),
        **({"license": known} if known else {"notes": one_line(facts["project"]["licence"])}),
    }


def description(facts: Facts, labels_name: str) -> str:
    """Return the source statement and the sizes of the set."""
    return " ".join([one_line(facts["project"]["source_statement"]), *_stated(facts, DESCRIBED, labels_name)]).strip()


def protocol(facts: Facts) -> str:
    """Return how the items were labelled, from the settings of the project."""
    project = facts["project"]
    return (
        f"Labels per item: {project['per_item']}, each given without sight of the others, under the written guideline"
        f" (guideline/). Rule of the gold label: {project['gold']}. method.en.md describes the procedure."
    )


def creators(facts: Facts) -> list[str]:
    """Return who is cited: the stated creators, else the project by its name."""
    return list(facts["release"].get("creators") or [CONTRIBUTORS + one_line(facts["project"]["name"])])


def cited(facts: Facts) -> str:
    """Return the release as an entry of BibTeX."""
    key = _slug(f"{facts['project']['name']}-{facts['release']['version']}").replace(".", "-")
    fields = {
        "title": "{" + _title(facts) + "}",
        "author": " and ".join(name if _person(name) else "{" + name + "}" for name in creators(facts)),
        "year": facts["release"]["created"][:4],
        "version": facts["release"]["version"],
    }
    return f"@misc{{{key}, " + ", ".join(f"{name} = {{{text}}}" for name, text in fields.items()) + "}"


def _stated(facts: Facts, ids: Sequence[str], labels_name: str) -> Iterator[str]:
    """Yield a sentence per quantity that the facts state with a value."""
    for id_ in ids:
        found = facts["quantities"].get(id_)
        if found is None or found["value"] is None:
            continue
        estimate, entry = estimate_of(found), ENTRIES[id_]
        assert estimate.value is not None
        ends = "" if estimate.low is None or estimate.high is None else (
            f" (95% {written(estimate.low, entry.unit)} to {written(estimate.high, entry.unit)})"
        )  # fmt: skip
        name = entry.named(labels=labels_name)
        yield f"{name[:1].upper()}{name[1:]}: {written(estimate.value, entry.unit)}{ends}."


def _record_set(columns: Columns) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field", "@id": f"default/{name}", "name": name, "dataType": CROISSANT_TYPES[kind],
            "source": {"fileObject": {"@id": DATA}, "extract": {"column": name}},
        }
        for name, kind in columns
    ]  # fmt: skip
    return {"@type": "cr:RecordSet", "@id": "default", "name": "default", "key": {"@id": "default/id"}, "field": fields}


def _file_object(file: FrozenFile, held: str) -> dict[str, Any]:
    media_type = MEDIA_TYPES.get(file.name.rpartition(".")[2], "text/plain")
    return {
        "@type": "cr:FileObject", "@id": file.name, "name": file.name, "contentUrl": file.name,
        "contentSize": f"{file.size} B", "encodingFormat": media_type, "sha256": file.sha256,
        **({"description": held} if held else {}),
    }  # fmt: skip


def _person(name: str) -> re.Match[str] | None:
    """Match a person, "Family, Given"; any other name is that of an organisation."""
    return None if name.startswith(CONTRIBUTORS) else re.fullmatch(r"([^,]+), ([^,]+)", name)


def _agent(name: str) -> dict[str, str]:
    person = _person(name)
    if person is None:
        return {"@type": "sc:Organization", "name": name}
    return {"@type": "sc:Person", "name": name, "familyName": person[1], "givenName": person[2]}


def _cff_person(name: str) -> list[tuple[bool, str]]:
    """Return the lines of an author, each with whether it is the first."""
    person = _person(name)
    if person is None:
        return [(True, f"name: {_quoted(name)}")]
    return [(True, f"family-names: {_quoted(person[1])}"), (False, f"given-names: {_quoted(person[2])}")]


def _title(facts: Facts) -> str:
    return one_line(facts["project"]["name"])


def _spdx(facts: Facts) -> str | None:
    known = licence_id(facts["project"]["licence"])
    return None if known is None else SPDX[known]


def _slug(text: str) -> str:
    """Return a name of ASCII letters, digits and - . _ that keeps what it can: "labels.csv" -> "labels.csv"."""
    slug = re.sub(r"[^a-z0-9._-]+", "-", text.casefold()).strip("-._")
    return slug or "data"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
