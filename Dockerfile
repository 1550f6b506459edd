# syntax=docker/dockerfile:1

# Debian, since onnxruntime's library needs glibc: no Alpine. 24 is the LTS line.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# no package of the service needs its install script: onnxruntime's only fetches GPU libraries
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY examples ./examples
COPY migrations ./migrations
COPY wordbooks ./wordbooks
RUN npm run build
# the int8 model file is made here, once, so that a container starts at once and needs no network
RUN MODEL_DIR=/app/models node dist/bin/model.js
# then everything that only builds and tests need, and the native libraries of other platforms (some 230 MB)
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && cd node_modules/onnxruntime-node/bin/napi-v* \
 && find . -mindepth 1 -maxdepth 1 ! -name linux -exec rm -r {} + \
 && find linux -mindepth 1 -maxdepth 1 ! -name "$(node -p process.arch)" -exec rm -r {} +

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    MODEL_DIR=/app/models
WORKDIR /app
# /app belongs to root: the service can change nothing but /data, also without a read-only root
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/models ./models
COPY --from=build /app/dist ./dist
COPY migrations ./migrations
COPY wordbooks ./wordbooks
COPY LICENSE NOTICE ./
RUN install -d -o node -g node -m 700 /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/bin/serve.js"]
