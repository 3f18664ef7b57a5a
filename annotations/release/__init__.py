"""Releases: a frozen state of a project with its papers, and its verification."""

from evenhand.annotations.release.changes import changes
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.readiness import Check, readiness
from evenhand.annotations.release.records import (
    FileFact,
    Release,
    file_facts,
    release,
    release_file,
    release_files,
    releases,
)
from evenhand.annotations.release.verify import Verification, verify
from evenhand.annotations.release.write_out import locked_texts, release_archive, write_release

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
