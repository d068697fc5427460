# An image for `winnow serve` and `winnow index`. docker-compose.yml runs it next to OpenSearch.
#
#   docker build --tag winnow .
#   docker run --rm --volume winnow:/data --volume "$PWD/crawl:/crawl:ro" winnow index /crawl
#   docker run --rm --volume winnow:/data --publish 127.0.0.1:8765:8765 --env WINNOW_TOKEN=... winnow

# For an image that can be built again from the same parts, name the base images by their digests:
#
#   docker build --build-arg BUILD_IMAGE=python:3.13-bookworm@sha256:... \
#                --build-arg BASE_IMAGE=python:3.13-slim-bookworm@sha256:... --tag winnow .

ARG BUILD_IMAGE=python:3.13-bookworm
ARG BASE_IMAGE=python:3.13-slim-bookworm

FROM ${BUILD_IMAGE} AS build
WORKDIR /source
COPY . .
# Only files with a locked hash. winnow itself is built with the locked Cython.
RUN python -m pip install --no-cache-dir --require-hashes --no-deps --requirement requirements/build.txt \
    && python -m pip wheel --no-cache-dir --require-hashes --no-deps --wheel-dir /wheels \
        --requirement requirements/demo.txt --requirement requirements/image.txt \
    && python -m pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir /wheels .

FROM ${BASE_IMAGE}
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
