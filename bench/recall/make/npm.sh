#!/bin/bash
# npm.sh storefront|portal|all: npm install logs and npm ls listings.
# Package hosts are replaced by packages.example (see clean in lib.sh).
. "$(dirname "$0")/lib.sh"
export HOME=/home/dev npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false
mkdir -p /home/dev

storefront() {  # old dependencies: many deprecations and peer overrides
  rm -rf /srv/storefront && mkdir -p /srv/storefront && cd /srv/storefront || exit 1
  cat > package.json <<'J'
{
  "name": "storefront", "version": "4.2.0", "private": true,
  "scripts": { "postinstall": "node -e \"console.log('storefront: postinstall, writing build-info.json')\"" },
  "engines": { "node": ">=22.0.0" },
  "dependencies": {
    "express": "4.17.1", "request": "2.88.2", "uuid": "3.4.0", "mkdirp": "0.5.1", "rimraf": "2.6.3",
    "react": "17.0.2", "react-dom": "17.0.2", "redux": "4.1.0", "react-redux": "7.2.4",
    "lodash": "4.17.20", "moment": "2.29.1", "axios": "0.21.1"
  },
  "devDependencies": {
    "eslint": "7.32.0", "mocha": "8.4.0", "gulp": "4.0.2", "stylus": "0.54.8", "tslint": "6.1.3", "typescript": "4.3.5",
    "babel-eslint": "10.1.0", "nyc": "14.1.1", "@testing-library/react": "14.0.0",
    "enzyme": "3.11.0", "enzyme-adapter-react-16": "1.15.6", "react-test-renderer": "18.2.0"
  }
}
J
  keep npm-install-storefront npm install --force --loglevel verbose
  keep npm-ls-storefront npm ls --all
  clean npm-install-storefront; clean npm-ls-storefront
}

portal() {  # a peer dependency conflict, then a broken tree listing
  rm -rf /srv/portal && mkdir -p /srv/portal && cd /srv/portal || exit 1
  cat > package.json <<'J'
{
  "name": "portal", "version": "2.7.1", "private": true,
  "dependencies": {
    "@emotion/react": "11.11.4", "@emotion/styled": "11.11.5", "@mui/icons-material": "5.15.20", "@mui/material": "5.15.20",
    "@reduxjs/toolkit": "2.2.5", "@tanstack/react-query": "5.40.0", "axios": "1.7.2", "classnames": "2.5.1", "clsx": "2.1.1",
    "d3-array": "3.2.4", "d3-scale": "4.0.2", "d3-shape": "3.2.0", "date-fns": "2.30.0", "deepmerge": "4.3.1", "dompurify": "3.1.5",
    "downshift": "9.0.6", "fast-deep-equal": "3.1.3", "formik": "2.4.6", "fuse.js": "7.0.0", "history": "5.3.0", "i18next": "23.11.5",
    "immer": "10.1.1", "js-cookie": "3.0.5", "lodash": "4.17.21", "marked": "12.0.2", "nanoid": "5.0.7", "numeral": "2.0.6",
    "papaparse": "5.4.1", "prop-types": "15.8.1", "qs": "6.12.1", "query-string": "9.0.0", "react": "18.3.1", "react-dom": "18.3.1",
    "react-dropzone": "14.2.3", "react-helmet-async": "2.0.5", "react-hook-form": "7.51.5", "react-i18next": "14.1.2",
    "react-redux": "9.1.2", "react-router-dom": "6.23.1", "react-select": "5.8.0", "react-window": "1.8.10", "recharts": "2.12.7",
    "redux": "5.0.1", "reselect": "5.1.1", "rxjs": "7.8.1", "semver": "7.6.2", "uuid": "9.0.1", "yup": "1.4.0", "zod": "3.23.8"
  },
  "devDependencies": {
    "@types/node": "20.14.2", "@types/react": "18.3.3", "eslint": "8.57.0", "eslint-plugin-import": "2.29.1",
    "eslint-plugin-react": "7.34.2", "eslint-plugin-react-hooks": "4.6.2", "jest": "29.7.0", "msw": "2.3.1",
    "prettier": "3.2.5", "react-test-renderer": "17.0.2", "ts-jest": "29.1.4", "typescript": "5.4.5", "webpack": "5.91.0", "webpack-cli": "5.1.4"
  }
}
J
  keep npm-install-portal npm install --loglevel silly
  npm install --legacy-peer-deps --ignore-scripts >/dev/null 2>&1
  # Someone edits package.json and removes a folder: the listing has invalid and missing entries.
  sed -i -e 's#"date-fns": "2.30.0"#"date-fns": "3.6.0", "dayjs": "1.11.11"#' package.json
  rm -rf node_modules/yup node_modules/tapable
  mkdir -p node_modules/left-behind && echo '{"name":"left-behind","version":"0.0.3"}' > node_modules/left-behind/package.json
  keep npm-ls-portal npm ls --all
  clean npm-install-portal; clean npm-ls-portal
}

case ${1:-all} in all) storefront; portal;; *) "$1";; esac
