"""The local explorer: runs in a browser, explained further and measured while one looks on."""
