# An image with the command line:
#   docker build -t medianmap .
#   docker run --rm -v "$PWD:/data" medianmap demo --force            # writes medianmap-demo/ here
#   docker run --rm -v "$PWD:/data" medianmap fit my.fasta -o my-map
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
# The wheel brings its loops compiled for any x86-64-v3 machine, so that a first run does not wait.
RUN MEDIANMAP_COMPILED=1 pip wheel --no-cache-dir --no-deps -w /wheels .

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(ls /wheels/*.whl)[all]" \
    && useradd --create-home medianmap
USER medianmap
WORKDIR /data
ENTRYPOINT ["medianmap"]
CMD ["--help"]
