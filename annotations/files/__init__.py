"""Import and export: formats of files, rows to items, imports of labels, exports, undo of an import."""
