"""Read YAML that strangers wrote: short, not deep, and without aliases, which unfold a few lines to gigabytes."""

from typing import Any

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.bounded import reads_in_children, run_bounded

LARGEST_BYTES = 64_000
DEEPEST = 40  # lists and mappings, one in the other
SECONDS, MEGABYTES = 10, 500
NO_YAML = N_("{file} cannot be read as YAML: {why}")


def yaml_value(text: str, *, most: int = LARGEST_BYTES) -> Any:
    """Return what *text* holds. Raises ValueError for an alias, a tag, and what is too long, too deep or no YAML."""
    import yaml  # type: ignore[import-untyped]

    if len(text.encode("utf-8", "replace")) > most:
        raise ValueError(f"more than {most // 1000} kB")
    depth = 0
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("YAML with an alias (*)")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ValueError(f"more than {DEEPEST} levels")
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)[:200]) from error
    except (
        TypeError,
        AttributeError,
        KeyError,
        IndexError,
        OverflowError,
    ) as error:  # a key that is a list, an odd date
        raise ValueError(type(error).__name__) from error


def read_yaml(text: str, file: str) -> Any:
    """Return what *text* of *file* holds; a server reads it in another process. Raises BadFile as `yaml_value` does."""
    if reads_in_children():
        return run_bounded(_read, text, file, file=file, seconds=SECONDS, megabytes=MEGABYTES)
    return _read(text, file)


def _read(text: str, file: str) -> Any:
    try:
        return yaml_value(text)
    except ValueError as error:
        raise BadFile(NO_YAML, file=file, why=str(error)) from error
