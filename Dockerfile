FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Who talks to models is left to choose for users of the package, and is there in the image. Versions are those of the lock file.
RUN npm pkg delete devDependencies peerDependenciesMeta && npm install
COPY bin bin
COPY src src
COPY docker/statecast.config.json docker/statecast.config.json
RUN mkdir .statecast && chown node .statecast
USER node
ENTRYPOINT ["node", "bin/statecast.js"]
