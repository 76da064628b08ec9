#!/bin/bash
echo "==> [1/4] install"
npm install --no-audit --no-fund --loglevel http 2>&1
echo "==> [2/4] typecheck"
npm run typecheck 2>&1; types=$?
echo "==> [3/4] lint"
npm run lint 2>&1; lint=$?
echo "==> [4/4] test"
npm test 2>&1; tests=$?
echo "==> summary: typecheck=$types lint=$lint test=$tests"
exit $((types || lint || tests))
