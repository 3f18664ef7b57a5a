# docker build -t evenhand .                       torch of the usual package index: on x86-64 the large CUDA build
# docker build -t evenhand --build-arg EVENHAND_TORCH_INDEX=<PyTorch's package index for CPU> .      without CUDA
#
# The base is named by a variable: give it by digest (python:3.11-slim-bookworm@sha256:...), as your registry shows it
# today. A digest in this file would keep last year's security holes for everybody who builds it later.
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE} AS packages
ARG EVENHAND_TORCH_INDEX=""
WORKDIR /build
COPY requirements.lock requirements-cpu.lock requirements-build.lock ./
# Nothing is installed whose hash is not in a lock file (bin/lock.sh), from whichever index it comes.
RUN python -m venv /opt/venv \
    && case "$EVENHAND_TORCH_INDEX" in \
         "") set -- -r requirements.lock ;; \
         /*) set -- -r requirements-cpu.lock --find-links "$EVENHAND_TORCH_INDEX" ;; \
         *) set -- -r requirements-cpu.lock --extra-index-url "$EVENHAND_TORCH_INDEX" ;; \
       esac \
    && pip="/opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes" \
    && $pip -r requirements-build.lock \
    && $pip --no-build-isolation "$@"

FROM ${BASE}
RUN apt-get update \
    && apt-get install -y --no-install-recommends fonts-noto-cjk \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 evenhand \
    && useradd --system --uid 10001 --gid 10001 --home-dir /data --no-create-home evenhand \
    && install -d -o evenhand -g evenhand -m 0700 /data /backups
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
# `doctor` compares what is installed with requirements.txt.
COPY app.py cli.py LICENSE README.md requirements.txt ./
COPY .streamlit .streamlit
COPY evenhand evenhand
COPY core core
COPY annotations annotations
COPY web web
COPY commands commands
COPY pages pages
COPY locale locale
RUN python -m compileall -q evenhand core annotations web commands pages
# The databases and downloaded models live on the volume; inside a container every address has to be listened to.
ENV PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    EVENHAND_DB=/data/evenhand.db \
    HF_HOME=/data/huggingface \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501
USER evenhand
VOLUME /data
EXPOSE 8501
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:8501' + os.environ.get('STREAMLIT_SERVER_BASE_URL_PATH', '').rstrip('/') + '/healthz', timeout=4)"]
CMD ["streamlit", "run", "app.py"]
