"""Who gets which item next; the only writer of `assignment` leases."""
