"""Spanish words and what changes with them; the sentences are our own, both readings written by hand."""

import pytest

from evenhand.core.sentence_bias import slot as slots

BOTH = [
    ("El maestro está cansado.", "La maestra está cansada."),
    ("Un vecino trajo pan.", "Una vecina trajo pan."),
    ("El maestro de la escuela está muy cansado y contento.", "La maestra de la escuela está muy cansada y contenta."),
    ("El maestro dijo que la puerta estaba cerrada.", "La maestra dijo que la puerta estaba cerrada."),
    ("Hablé con el buen maestro español.", "Hablé con la buena maestra española."),
    ("Él está contento.", "Ella está contenta."),
    ("Un viejo amigo llegó cansado.", "Una vieja amiga llegó cansada."),
    ("Los maestros fueron despedidos.", "Las maestras fueron despedidas."),
    ("Vi al niño dormido.", "Vi a la niña dormida."),
    ("Voy a casa del abuelo.", "Voy a casa de la abuela."),
    ("Del maestro no sé nada.", "De la maestra no sé nada."),
    ("Mi abuelo cose los botones.", "Mi abuela cose los botones."),
    ("El camarero del pueblo parece simpático.", "La camarera del pueblo parece simpática."),
    ("Todos los alumnos estaban sentados.", "Todas las alumnas estaban sentadas."),
    ("Ese actor es muy famoso.", "Esa actriz es muy famosa."),
    ("El ingeniero, cansado, cerró la puerta.", "La ingeniera, cansada, cerró la puerta."),
    ("El médico no se puso nervioso.", "La médica no se puso nerviosa."),
    ("Hablé con ellos en la calle.", "Hablé con ellas en la calle."),
    ("Está cansado el maestro.", "Está cansada la maestra."),
    ("El jefe abrió la caja cerrada.", "La jefa abrió la caja cerrada."),
    ("Otro nuevo compañero llegó tarde.", "Otra nueva compañera llegó tarde."),
]


@pytest.mark.parametrize(("male", "female"), BOTH)
def test_agreeing_words_change_with_the_noun(male, female):
    assert slots.find_slot(male, language="es").counterpart_sentence == female
    assert slots.find_slot(female, language="es").counterpart_sentence == male


@pytest.mark.parametrize(("male", "female"), BOTH)
def test_both_sentences_give_equal_probes(male, female):
    """Both words of the pair give equal filled texts, and so equal answers of a model."""
    results = [slots.find_slot(text, language="es").probe for text in (male, female)]
    assert {probe.with_option(0)[0] for probe in results} == {male}
    assert {probe.with_option(1)[0] for probe in results} == {female}


def test_agreeing_words_are_not_tested_for_their_push():
    from evenhand.core.sentence_bias.compare_words import words_around

    slot = slots.find_slot("La maestra está cansada hoy.", language="es")
    assert [slot.text[slice(*span)] for span in words_around(slot)] == ["está", "hoy"]
