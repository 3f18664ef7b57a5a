"""Releases: what people made of a project, frozen with its papers, and how one is checked."""

from annotations.releasing.changes import changes
from annotations.releasing.folders import locked_texts, release_archive, write_release
from annotations.releasing.making import make_release
from annotations.releasing.readiness import Check, readiness
from annotations.releasing.records import FileFact, Release, file_facts, release, release_file, release_files, releases
from annotations.releasing.verifying import Verification, verify

__all__ = [
    "Check",
    "FileFact",
    "Release",
    "Verification",
    "changes",
    "file_facts",
    "locked_texts",
    "make_release",
    "readiness",
    "release",
    "release_archive",
    "release_file",
    "release_files",
    "releases",
    "verify",
    "write_release",
]
