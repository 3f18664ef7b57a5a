"""From raw text to candidate sentences: reading, cleaning, finding, filters, duplicates, report."""
