"""core turns text into numbers: sentences, models' log-probabilities, statistics. No Streamlit, no SQL on labels."""
