"""Read texts and sentences: decoding, splitting, keyword pairs, pronouns, English tokens, repetition."""
