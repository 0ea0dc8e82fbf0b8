# hermes as a container: the one-file program in a small Debian with the programs its tools use.
#   docker build -t hermes .
#   docker run --init -p 127.0.0.1:8642:8642 -v hermes:/data -v "$PWD:/workspace" -e API_SERVER_KEY -e OPENROUTER_API_KEY hermes
# No key is in a layer: they come from the environment at the start, or from .env in the volume.

FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npx -y deno@2.8.3 task build --output /hermes

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git ripgrep \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 10001 hermes \
  && useradd --uid 10001 --gid 10001 --create-home --shell /bin/bash hermes \
  && install -d -o hermes -g hermes -m 0700 /data \
  && install -d -o hermes -g hermes -m 0755 /workspace
COPY --from=build /hermes /usr/local/bin/hermes
ENV HERMES_HOME=/data \
  API_SERVER_HOST=0.0.0.0 \
  API_SERVER_PORT=8642
USER 10001:10001
WORKDIR /workspace
VOLUME /data
EXPOSE 8642
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s --retries=3 CMD ["hermes", "serve", "health"]
ENTRYPOINT ["hermes"]
CMD ["serve"]
