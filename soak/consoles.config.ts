import { defineConfig } from '@playwright/test'
import journeys from '../playwright.config.ts'

/** The journey of two consoles, for `npm run soak -- consoles`. */
export default defineConfig(journeys, {
  testDir: '../e2e',
  testMatch: 'two-consoles.soak.ts',
  globalSetup: '../e2e/build.ts',
  reporter: 'list',
  timeout: 120_000,
})
