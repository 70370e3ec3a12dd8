FROM node:24-slim AS page
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
COPY web web
RUN node node_modules/vite/bin/vite.js build --config web/chat/vite.config.ts

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
ENTRYPOINT ["node", "bin/statecast.js"]
