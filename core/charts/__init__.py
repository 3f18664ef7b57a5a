"""DataFrames in, charts out: colours, heatmaps, pictures. Nothing here knows Streamlit or the database."""
