import { defineConfig } from '@playwright/test'
import { findChromium } from './e2e/chromium.ts'

export default defineConfig({
  testDir: 'e2e',
  // One product, one browser, one journey after the other: two cores are shared with real shells.
  workers: 1,
  retries: 0,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list'], ['./e2e/line-reporter.ts']],
  use: { launchOptions: await findChromium(), trace: 'retain-on-failure', viewport: { width: 1440, height: 900 } },
})
