import { existsSync } from 'node:fs';

/** Debian's Chromium without windows, which takes half as long; with windows; or the one named by CHROMIUM. */
export const CHROMIUM =
  process.env['CHROMIUM'] ??
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ??
  '';

export const hasBrowser = existsSync(CHROMIUM);
