# The payout sandbox: docker build -t payout-sandbox . && docker run --rm -p 127.0.0.1:3000:3000 payout-sandbox
FROM node:24-alpine AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsdown.config.ts vite.config.ts ./
COPY build build
COPY src src
COPY fixtures fixtures
# the program alone: nobody imports the library from the image
RUN npm run build && rm dist/*.js dist/*.d.*ts

FROM node:24-alpine
LABEL org.opencontainers.image.title="payout-sandbox" \
      org.opencontainers.image.description="A local stand-in for an Indian payout API (IMPS, NEFT, RTGS, UPI): a ledger that cannot double-spend, a clock you control, every failure on demand, and a verdict on your client" \
      org.opencontainers.image.version="1.0.0-dev" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY package.json LICENSE ./
COPY fixtures fixtures
# what the tool scenario_reference of the command mcp shows
COPY docs/scenarios.md docs/
COPY --from=build /build/dist dist
# only Node.js is needed from here on; links to what is gone go with it
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg
# scenarios of your own are mounted here, and a volume for SANDBOX_STATE; without any, they stay empty
RUN mkdir /scenarios /state && chown node:node /state
# only these host names, and addresses, so that no web page can reach it by a name of its own; name the service of a network here
ENV NODE_ENV=production SANDBOX_HOST=0.0.0.0 SANDBOX_SCENARIOS=/scenarios SANDBOX_ALLOWED_HOSTS=localhost
EXPOSE 3000
USER node
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=2 CMD node /app/dist/main.cjs health --port "${SANDBOX_PORT:-${PORT:-3000}}"
# the program handles signals itself, so it may be process 1
ENTRYPOINT ["node", "/app/dist/main.cjs"]
