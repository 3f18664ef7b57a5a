"""Version 11 of the database: studies, what people agreed to, and how their part ended, have entries in the log.

Never edit it once it has been released. The log says which pseudonym agreed to which text, never whose it is: outside
ids stand in `study_identity`, have no entry, and are erased.
"""

from evenhand.annotations.database.schema.v7_log import Kind, named

_STUDY = (
    "uid project name service items places reward currency floor minutes pause cover questions pass_mark keep_days"
    " contact warning_en warning_zh created closed"
)
_PERSON = "uid study annotator state consent consent_language consent_hash consented tries right completed ended"

STUDY_KINDS: tuple[Kind, ...] = (
    Kind("study_consent", "{r}.id", named("study version en zh created")),
    Kind("study", "{r}.id", named(_STUDY), watched=tuple(_STUDY.split())),
    Kind("study_person", "{r}.id", named(_PERSON), watched=tuple(_PERSON.split())),
)
