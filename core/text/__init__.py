"""What a sentence is: decoding, splitting, keyword pairs, pronouns, English tokens, repetition."""
