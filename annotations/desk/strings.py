"""Every string of the desk, marked for translation. The JavaScript names them by their English text."""

from core.errors import N_

WORDS = (
    # the sentence
    N_("male word"), N_("female word"), N_("keyword"), N_("covered word"), N_("Sentence"), N_("Decide"),
    N_("Reasons for rejecting"), N_("My progress"), N_("Guideline v{version}"),
    N_("Hold {key} to read both words"), N_("Hold {key} for the other reading"), N_("Read both"), N_("Other reading"),
    # deciding
    N_("Skip"), N_("Note"), N_("Undo"), N_("Opinion"), N_("Done"), N_("Back"), N_("Discard"), N_("Close"),
    N_("Note (Enter keeps it, Esc discards it)"), N_("No reason is chosen: say in a few words why."),
    N_("Why? Choose one or more reasons, then Enter."), N_("{choice}. Next sentence."), N_("Skipped"),
    N_("Skipped. It comes back at the end."), N_("There is nothing to take back."), N_("Taken back."),
    N_("Taken back: {what}"), N_("taken back"), N_("An earlier decision is on screen."),
    N_("A decision that was made cannot be skipped. Esc leaves it as it is."),
    N_("Decided before: {what}. A new decision replaces it; Esc leaves it as it is."),
    # progress
    N_("Mine {done} of {total}"), N_("Saved {time}"), N_("{n} waiting to be sent"), N_("{n} per hour"), N_("Pace"),
    N_("about {n} h left"), N_("about {n} min left"), N_("Hide the pace"), N_("Show the pace"),
    N_("My labels by keyword pair"), N_("dark: kept, light: labelled"), N_("{accepted} kept, {labelled} labelled"),
    N_("{accepted} of {quota} kept, {labelled} labelled"), N_("{name} at work on {project}"),
    # the past
    N_("Guideline"), N_("My last ten (click to change)"), N_("Change: {choice}. {text}"), N_("Found: {n}"),
    N_("Nothing found."), N_("Nothing yet."), N_("Search in my decisions"),
    # nothing on screen
    N_("One moment …"), N_("Saving …"), N_("The server does not answer."), N_("All done. Thank you."),
    N_("No sentence is left here. It goes on by itself as soon as the server is back."),
    N_("You have labelled all {n} sentences that were for you. New ones appear here by themselves."),
    N_("Nothing for you at the moment."), N_("You do not label in this project any more."),
    N_("What you have decided is stored and counts. If this surprises you, ask the person who leads the project."),
    N_("The sentences that are left are with others, or wait for the lead. New ones appear here by themselves."),
    # notices
    N_("The server does not answer. Try again later."), N_("Sign in again"), N_("Download"), N_("Remove from here"),
    N_(
        "The server does not answer. Go on working: {ready} sentences are ready here, {n} decisions are kept "
        "in this browser and sent as soon as it is back."
    ),
    N_("{n} decisions are kept in this browser."),
    N_(
        "This browser does not keep data. Each sentence waits until the one before is stored; do not close "
        "the page while {n} are on their way."
    ),
    N_(
        "{n} decisions in this browser belong to another database. They stay untouched and are sent when "
        "that database is back at this address."
    ),
    N_(
        "{n} decisions in this browser belong to another annotator or project. They are sent when that desk "
        "is opened here."
    ),
    N_("{n} decisions were refused by the server and are not stored."),
    N_("{n} sentences were decided at two desks of yours."), N_("Decide again"), N_("no label"),
    N_("{text}: here {here}, at the other desk {stands}, which counts."),
    # keys
    N_("Keys"), N_("switch a reason on or off while rejecting; several are allowed"),
    N_("close the rejection; without a reason it asks for a note"), N_("back, without changing anything"),
    N_("hold: both readings"), N_("hold: the other reading"), N_("write a note on this sentence"),
    N_("skip: it comes back at the end"), N_("take back the last decision; again for the one before"),
    N_("go to my last decisions; arrows and Enter open one"), N_("search in my decisions"), N_("this list"),
    N_("show or hide what a model thinks, after each label; it is recorded"),
    # opinion
    N_("After the next label: what {model} thinks of that sentence. It is recorded that you saw it."),
    N_("The one before"), N_("male word {n} times as likely"), N_("female word {n} times as likely"),
    N_("Opinions are shown after each label."), N_("Opinions are hidden."),
    # a pause
    N_("You have been working for {n} minutes. A short pause keeps the judgement fresh; nothing is lost."),
    N_("Go on"),
    # a pilot, and a new version of the guideline
    N_("Pilot {number}: mine {done} of {total}"), N_("The pilot is done for you. Thank you."),
    N_(
        "The sentences that are left of the pilot are with others. When the lead has closed it, the work goes on here "
        "by itself."
    ),
    N_("My tags"), N_("In your own words; Enter or a comma ends a tag"), N_("Remove the tag {tag}"),
    N_("Mine so far:"), N_("in a pilot: a tag in your own words"),
    N_("The guideline has changed: version {version}"), N_("Version {version}: {changes}"),
    N_("What is new was not described; here is the whole guideline."), N_("New: {label}"),
    N_("Was: {old}. Now: {label}"), N_("No longer there: {label}"), N_("The whole guideline"),
    N_("Came back to you, to be labelled once more: {n}"), N_("covered text"), N_("I have read this: go on"),
    N_("Read first what has changed in the guideline."),
    N_("For relabelling under the new guideline. Under version {version} you decided: {what}."),
    # generations: the text
    N_("Context"), N_("What the model wrote"), N_("Text"), N_("or"), N_("(any of them is right)"),
    N_("name not given"), N_("pronouns not given"), N_("no pronouns, the name only"), N_("Show the text"),
    N_("Open the text first, with the space bar or a touch."), N_("The text is covered until you open it."),
    # generations: what goes with a label
    N_("What goes with the label"), N_("Extraneous gendered language"), N_("Mark words"), N_("Tags"),
    N_("Extraneous gendered language: yes"), N_("Extraneous gendered language: no"), N_("{tag}: yes"),
    N_("{tag}: no"), N_("Taken back: {what}. Enter stores it again."),
    N_("Decided before: {what}. Enter stores it with what you change; Esc leaves it as it is."),
    # generations: marking
    N_("Marking"), N_("Mark words in the text."), N_("Wrong pronoun"), N_("Gendered word"), N_("wrong pronoun"),
    N_("gendered"), N_("Remove the mark"), N_("Store: {choice}"), N_("No word begins with {letter}."),
    N_("Go to the word first: arrows, or its first letter."),
    N_("Misgendering: mark the wrong pronoun first, then Enter stores it."),
    N_("No pronoun was chosen, but a pronoun is marked: remove the mark, or choose another label."),
    N_("Extraneous gendered language is flagged: mark the words first, then Enter stores the label."),
    N_(
        "Touch or drag over words; or arrows, with Shift for several, and the space bar. A letter jumps to the next "
        "word that begins with it."
    ),
    # generations: keys
    N_("extraneous gendered language: words that give a gender the context does not imply"),
    N_("mark words; once more: the other kind of mark"),
    N_("while marking: mark, or free again; also opens a covered text"),
    N_("while marking: to another word; with Shift several words"), N_("while marking: remove the mark"),
    N_("store the choice that waits for its mark, or an earlier decision once more"),
    N_("tags: a key each, several are allowed"), N_("write a note on this text"),
)  # fmt: skip

# What the desk says of sentences, said of the texts of a model.
OTHER_WORDS = {
    N_("{choice}. Next sentence."): N_("{choice}. Next text."),
    N_("You have labelled all {n} sentences that were for you. New ones appear here by themselves."): N_(
        "You have labelled all {n} texts that were for you. New ones appear here by themselves."
    ),
    N_("The sentences that are left are with others, or wait for the lead. New ones appear here by themselves."): N_(
        "The texts that are left are with others, or wait for the lead. New ones appear here by themselves."
    ),
    N_(
        "The sentences that are left of the pilot are with others. When the lead has closed it, the work goes on here "
        "by itself."
    ): N_(
        "The texts that are left of the pilot are with others. When the lead has closed it, the work goes on here "
        "by itself."
    ),
    N_("No sentence is left here. It goes on by itself as soon as the server is back."): N_(
        "No text is left here. It goes on by itself as soon as the server is back."
    ),
    N_(
        "The server does not answer. Go on working: {ready} sentences are ready here, {n} decisions are kept "
        "in this browser and sent as soon as it is back."
    ): N_(
        "The server does not answer. Go on working: {ready} texts are ready here, {n} decisions are kept "
        "in this browser and sent as soon as it is back."
    ),
    N_(
        "This browser does not keep data. Each sentence waits until the one before is stored; do not close "
        "the page while {n} are on their way."
    ): N_(
        "This browser does not keep data. Each text waits until the one before is stored; do not close "
        "the page while {n} are on their way."
    ),
    N_("{n} sentences were decided at two desks of yours."): N_("{n} texts were decided at two desks of yours."),
}
