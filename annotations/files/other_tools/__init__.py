"""Label Studio and doccano."""
