"""Connection, transactions, migrations, snapshots, backup, events."""
