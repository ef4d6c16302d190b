import { defineConfig } from '@playwright/test'
import { findChromium } from './e2e/chromium.ts'

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/build.ts',
  // Two products and two browsers: two cores are shared with real shells.
  workers: 2,
  fullyParallel: true,
  retries: 0,
  forbidOnly: true,
  // Only what fails takes this long: a machine may be many times slower than this one.
  timeout: 480_000,
  expect: { timeout: 120_000 },
  reporter: [['list'], ['./e2e/line-reporter.ts']],
  // A trace of each journey costs a fifth of the whole run: `--trace on` writes one of what is looked into.
  use: { launchOptions: await findChromium(), viewport: { width: 1440, height: 900 } },
})
