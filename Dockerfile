# docker build --build-arg EVENHAND_TORCH_INDEX=<PyTorch's package index for CPU> -t evenhand .
# Without the argument, pip takes torch from the usual index: on x86-64 that is the much larger build for NVIDIA cards.
FROM python:3.11-slim-bookworm AS packages
ARG EVENHAND_TORCH_INDEX=""
WORKDIR /build
COPY requirements.txt .
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check -r requirements.txt \
       ${EVENHAND_TORCH_INDEX:+--extra-index-url "$EVENHAND_TORCH_INDEX"}

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends fonts-noto-cjk \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data --no-create-home evenhand \
    && install -d -o evenhand -g evenhand /data
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
# `doctor` compares what is installed with requirements.txt.
COPY app.py cli.py LICENSE README.md requirements.txt ./
COPY .streamlit .streamlit
COPY core core
COPY annotations annotations
COPY commands commands
COPY pages pages
COPY locale locale
RUN python -m compileall -q core annotations commands pages
# The databases and downloaded models live on the volume; inside a container every address has to be listened to.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    EVENHAND_DB=/data/evenhand.db \
    HF_HOME=/data/huggingface \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501
USER evenhand
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py"]
