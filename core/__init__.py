"""Turn text into numbers: sentences, log-probabilities of models, statistics. No Streamlit, no SQL on labels."""
