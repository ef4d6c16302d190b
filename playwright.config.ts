import { defineConfig } from '@playwright/test'
import { findChromium } from './e2e/chromium.ts'

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/build.ts',
  // Two products and two browsers: two cores are shared with real shells.
  workers: 2,
  // Otherwise both workers would start the product of a file.
  fullyParallel: false,
  retries: 0,
  forbidOnly: true,
  // Only failing tests take this long. Some machines are many times slower than this one.
  timeout: 480_000,
  expect: { timeout: 120_000 },
  reporter: [['list'], ['./e2e/line-reporter.ts']],
  // Tracing every journey takes a fifth of the whole run; use `--trace on` for the one you debug.
  use: { launchOptions: await findChromium(), viewport: { width: 1440, height: 900 } },
})
