"""What is seen: main.py and one folder a page; each has page.py (what st.Page registers)."""
