FROM node:24-slim AS page
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
COPY web web
RUN npm run --silent build:web

FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Who talks to models is left to choose for users of the package, and is there in the image. Versions are those of the lock file.
RUN npm pkg delete devDependencies peerDependenciesMeta && npm install
COPY bin bin
COPY bundled-skills bundled-skills
COPY src src
COPY --from=page /app/dist/web dist/web
COPY docker/statecast.config.json docker/statecast.config.json
RUN mkdir .statecast && chown node .statecast
USER node
# For `docker run`, on the default port of `up`.
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=12 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4111/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/statecast.js"]
