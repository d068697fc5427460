# An image for `winnow serve` and `winnow index`. docker-compose.yml runs it next to OpenSearch.
#
#   docker build --tag winnow .
#   docker run --rm --volume winnow:/data --volume "$PWD/crawl:/crawl:ro" winnow index /crawl
#   docker run --rm --volume winnow:/data --publish 127.0.0.1:8765:8765 --env WINNOW_TOKEN=... winnow

FROM python:3.13-bookworm AS build
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels '.[archives,cluster,opensearch,parquet,web]'

FROM python:3.13-slim-bookworm
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-deps /wheels/*.whl \
    && useradd --uid 1000 --no-create-home winnow \
    && install --directory --owner=winnow /data
USER 1000
WORKDIR /data
VOLUME /data
ENV WINNOW_STORE=/data/crawl.winnow
EXPOSE 8765
ENTRYPOINT ["winnow"]
CMD ["serve", "--host", "0.0.0.0"]
