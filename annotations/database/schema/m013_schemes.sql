-- Version 13. Schemes of one's own, whose choices the guideline names (see `allow_own_choices` of ../migrations.py): now a trigger
-- asks the guideline whether it has the choice of a label.

-- What a version of the guideline has beside choices and flags (its reasons), where its scheme is the project's own.
CREATE TABLE scheme (
    guideline INTEGER PRIMARY KEY REFERENCES guideline(id),
    content TEXT NOT NULL CHECK (json_valid(content))   -- {spans, needs, about}
) STRICT;
CREATE TRIGGER scheme_is_never_changed BEFORE UPDATE ON scheme
BEGIN SELECT RAISE(ABORT, 'a changed scheme is a new version of the guideline'); END;
CREATE TRIGGER scheme_is_never_deleted BEFORE DELETE ON scheme
BEGIN SELECT RAISE(ABORT, 'labels point to their guideline'); END;

CREATE TRIGGER label_choice_of_its_guideline BEFORE INSERT ON label
WHEN NEW.choice NOT IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they') AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.id = NEW.guideline AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of the guideline'); END;

CREATE TRIGGER retest_label_choice_of_its_guideline BEFORE INSERT ON retest_label
WHEN NEW.choice NOT IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they') AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.id = NEW.guideline AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of the guideline'); END;

CREATE TRIGGER settlement_choice_of_a_guideline BEFORE INSERT ON settlement
WHEN NEW.choice NOT IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they') AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.project = NEW.project AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of a guideline of the project'); END;

CREATE TRIGGER known_choice_of_a_guideline BEFORE INSERT ON known
WHEN NEW.choice NOT IN ('accept', 'reject', 'correct', 'misgendering', 'no_pronoun', 'plural_they') AND NOT EXISTS (SELECT 1 FROM guideline, json_each(guideline.choices) AS one
    WHERE guideline.project = NEW.project AND one.value ->> 'code' = NEW.choice)
BEGIN SELECT RAISE(ABORT, 'this is no choice of a guideline of the project'); END;
