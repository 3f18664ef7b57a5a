"""Every string of the desk, marked for translation. The JavaScript names them by their English text."""

from evenhand.core.errors import N_

WORDS = (
    # the sentence
    N_("male word"), N_("female word"), N_("keyword"), N_("covered word"), N_("Sentence"), N_("Decide"),
    N_("Reasons for rejecting"), N_("My progress"), N_("Guideline v{version}"),
    N_("Hold {key} to read both words"), N_("Hold {key} to see the counterpart"), N_("Read both"), N_(
        "Show counterpart"
    ),
    # deciding
    N_("Skip"), N_("Note"), N_("Undo"), N_("Opinion"), N_("Done"), N_("Back"), N_("Discard"), N_("Close"),
    N_("Note (Enter saves, Esc cancels)"), N_("No reason chosen. Explain in a few words."),
    N_("Choose one or more reasons, then press Enter."), N_("{choice}. Next sentence."), N_("Skipped"),
    N_("You cannot skip any more texts. Judge this one, or withdraw."),
    N_("Skipped. This item will reappear at the end."),
    N_("Skipped again. This item goes to others."),
    N_("Skipped twice, and left to other annotators or to the lead: {n}."),
    N_("Press {key} to return to the last skipped item."), N_("Nothing to undo."), N_("Undone."),
    N_("Undone: {what}"), N_("undone"), N_("Showing an earlier decision."),
    N_("An earlier decision cannot be skipped. Press Esc to leave it unchanged."),
    N_("Earlier decision: {what}. A new decision replaces it; press Esc to leave it unchanged."),
    N_("Nothing has changed."), N_("Back at the text."), N_("Note kept."), N_("Desk"),
    # progress
    N_("My progress: {done} of {total}"), N_("Saved {time}"), N_("{n} waiting to be sent"), N_("{n} per hour"),
    N_("Pace"),
    N_("about {n} h left"), N_("about {n} min left"), N_("Hide the pace"), N_("Show the pace"),
    N_("My progress by keyword pair"), N_("dark: accepted, light: labelled"),
    N_("Your last {n} labels are not counted here, because their words are still covered."),
    N_("Where words are covered, only the last {n} labels can be undone."),
    N_("{accepted} accepted, {labelled} labelled"),
    N_("{accepted} of {quota} accepted, {labelled} labelled"), N_("{name} labelling {project}"),
    # the past
    N_("My last ten (click to change)"), N_("Change: {choice}."), N_("Found: {n}"),
    N_("Nothing found."), N_("No decisions yet."), N_("Search my decisions"),
    # nothing on screen
    N_("One moment …"), N_("Saving …"), N_("The server is not responding."), N_("All done. Thank you."),
    N_("No sentences are left in this browser. Work resumes as soon as the server is back."),
    N_("You have labelled all {n} sentences assigned to you. New ones will appear here automatically."),
    N_("Nothing to label at the moment."), N_("You no longer label in this project."),
    N_("Your labels are stored and still count. If this is unexpected, ask the project lead."),
    N_(
        "The remaining sentences are with other annotators or waiting for the lead. New ones will appear here"
        " automatically."
    ),
    # notices
    N_("The server is responding again."), N_("Connection error"),
    N_("The server is not responding. Try again later."), N_("Sign in again"), N_("Download"),
    N_("Remove from browser"),
    N_(

            "The server is not responding. You can keep working: {ready} sentences are ready, and {n}"
            " decisions are kept in this browser and will be sent once the server is back."

    ),
    N_("{n} decisions are kept in this browser."),
    N_(

            "This browser cannot store data. Each sentence waits until the previous one is saved; do not close"
            " the page while {n} are being sent."

    ),
    N_(

            "{n} decisions in this browser belong to another database. They are kept and will be sent when"
            " that database is available at this address again."

    ),
    N_(

            "{n} decisions in this browser belong to another annotator or project. They will be sent when that"
            " desk is opened here."

    ),
    N_("{n} decisions were refused by the server and are not stored."),
    N_("You labelled {n} sentences in two windows."), N_("Decide again"), N_("no label"),
    N_("{text}: {here} here, {stands} in the other window. The latter counts."),
    # keys
    N_("Keys with a letter, digit or sign work"), N_("On the whole page"), N_("Only while the desk has the focus"),
    N_("Off"),
    N_("Keyboard shortcuts"), N_("when rejecting: {reason}"), N_("Press a key in this list to choose another one."),
    N_("Change this key"), N_("Press the new key, or Esc to leave the key as it is."), N_("The key stays as it was."),
    N_("Press a letter or a digit, or Esc to leave the key as it is."), N_("The key is now {key}."),
    N_("{key} is already in use: {what}. The key stays as it was."), N_("Reset keys"),
    N_("Every key is as the desk and the guideline give it."),
    N_("confirm the reject; without a reason, a note is required"), N_("go back without changes"),
    N_("hold: compare both words"), N_("hold: show the counterpart"), N_("write a note on this sentence"),
    N_("skip: the item comes back once, at the end"), N_("undo the last decision; press again for the one before"),
    N_("go to my recent decisions; open one with the arrow keys and Enter"), N_("search my decisions"),
    N_("show this list"),
    N_("show or hide a model's opinion after each label; this is recorded"),
    # opinion
    N_("After your next label, the opinion of {model} on that sentence appears here. Seeing it is recorded."),
    N_("Previous sentence"), N_("male word {n} times as likely"), N_("female word {n} times as likely"),
    N_("Opinions are shown after each label."), N_("Opinions are hidden."),
    # a pause
    N_("You have been working for {n} minutes. A short break helps you judge consistently; your work is saved."),
    N_("Continue"),
    # a pilot, and a new version of the guideline
    N_("Pilot {number}, my progress: {done} of {total}"), N_("You have finished your part of the pilot. Thank you."),
    N_(

            "The remaining pilot sentences are with other annotators. Work continues here once the lead has"
            " closed the pilot."

    ),
    N_("My tags"), N_("In your own words; press Enter or comma to finish a tag"), N_("Remove tag {tag}"),
    N_("My tags so far:"), N_("in a pilot: a tag in your own words"),
    N_("The guideline has changed: version {version}"), N_("Version {version}: {changes}"),
    N_("The changes were not described; here is the full guideline."), N_("New: {label}"),
    N_("Was: {old}. Now: {label}"), N_("Removed: {label}"), N_("Full guideline"),
    N_("Sent back to you for relabelling: {n}"), N_("covered text"), N_("I have read this; continue"),
    N_("First read what has changed in the guideline."),
    N_("To be relabelled under the new guideline. Under version {version} you decided: {what}."),
    # generations: the text
    N_("Context"), N_("Completion"), N_("Text"), N_("or"), N_("(any of these is correct)"),
    N_("name not given"), N_("pronouns not given"), N_("no pronouns, name only"), N_("Show the text"),
    N_("Open the text first: press Space or tap it."), N_("The text is covered until you open it."),
    # generations: what goes with a label
    N_("Recorded with the label"), N_("Extraneous gendered language"), N_("Mark words"), N_("Tags"),
    N_("Extraneous gendered language: yes"), N_("Extraneous gendered language: no"), N_("{tag}: yes"),
    N_("{tag}: no"), N_("Undone: {what}. Press Enter to save it again."),
    N_("Earlier decision: {what}. Press Enter to save your changes, Esc to leave it unchanged."),
    # comparisons
    N_("Left text"), N_("Right text"), N_("choose the left or the right text"),
    # generations: marking
    N_("Marking"), N_("Mark words in the text."), N_("Wrong pronoun"), N_("Gendered word"), N_("wrong pronoun"),
    N_("gendered"), N_("Remove mark"), N_("No mark here any more."), N_("Save: {choice}"),
    N_("No word begins with {letter}."),
    N_("Go to the word first: use the arrow keys or type its first letter."),
    N_("Misgendering: mark the wrong pronoun, then press Enter to save."),
    N_("“No pronoun” was chosen, but a pronoun is marked. Remove the mark or choose another label."),
    N_("Extraneous gendered language is flagged: mark the words, then press Enter to save."),
    N_(

            "Tap or drag over words, or use the arrow keys (with Shift for several words) and Space. A letter"
            " jumps to the next word that begins with it."

    ),
    N_("{what}: mark {kind}, then press Enter to save."), N_("required"),
    N_("{question}: answer this first, then press Enter to save."),
    # generations: keys
    N_("extraneous gendered language: words for a gender that the context does not imply"),
    N_("mark words; press again for the other kind of mark"),
    N_("while marking: mark or unmark a word; also opens a covered text"),
    N_("while marking: move to another word; with Shift, select several"), N_("while marking: remove the mark"),
    N_("save a choice that is waiting for a mark, or save an earlier decision again"),
    N_("tags: one key each; several are allowed"), N_("write a note on this text"),
)  # fmt: skip

# What the desk says of sentences, said of the texts of a model.
OTHER_WORDS = {
    N_("{choice}. Next sentence."): N_("{choice}. Next text."),
    N_("You have labelled all {n} sentences assigned to you. New ones will appear here automatically."): N_(
        "You have labelled all {n} texts assigned to you. New ones will appear here automatically."
    ),
    N_(
        "The remaining sentences are with other annotators or waiting for the lead. New ones will appear here"
        " automatically."
    ): N_(
        "The remaining texts are with other annotators or waiting for the lead. New ones will appear here"
        " automatically."
    ),
    N_(
        "The remaining pilot sentences are with other annotators. Work continues here once the lead has"
        " closed the pilot."
    ): N_(
        "The remaining pilot texts are with other annotators. Work continues here once the lead has closed the pilot."
    ),
    N_("No sentences are left in this browser. Work resumes as soon as the server is back."): N_(
        "No texts are left in this browser. Work resumes as soon as the server is back."
    ),
    N_(
        "The server is not responding. You can keep working: {ready} sentences are ready, and {n}"
        " decisions are kept in this browser and will be sent once the server is back."
    ): N_(
        "The server is not responding. You can keep working: {ready} texts are ready, and {n} decisions"
        " are kept in this browser and will be sent once the server is back."
    ),
    N_(
        "This browser cannot store data. Each sentence waits until the previous one is saved; do not close"
        " the page while {n} are being sent."
    ): N_(
        "This browser cannot store data. Each text waits until the previous one is saved; do not close the"
        " page while {n} are being sent."
    ),
    N_("You labelled {n} sentences in two windows."): N_("You labelled {n} texts in two windows."),
}
