"""Builds query and search bodies for OpenSearch and Elasticsearch: plain dictionaries, for any client.

Nothing here depends on a client or a store. Tokens are strings, as documents contain them.
"""
