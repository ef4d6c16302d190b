import { startProduct } from '#e2e/product.ts'
import { fill, report } from './browser.ts'
import { insertJob } from './job-page.ts'

const jobs = 4
const repeats = 20

/** Reports of jobs with 10,000 trials through the console: the first of each job, and repeated ones. */
export const benchReports = async () => {
  const product = await startProduct()
  try {
    const ids: string[] = []
    for (let i = 0; i <= jobs; i++)
      ids.push(await fill(product, (database, account) => insertJob(database, account, `large ${i}`)))
    const time = async (path: string) => {
      const startMs = performance.now()
      const response = await fetch(`${product.url}/api/benchmark-jobs/${path}`, {
        headers: { authorization: `Bearer ${product.apiKey}` },
      })
      const { length } = await response.text()
      if (!response.ok || length === 0) throw new Error(`${path}: ${response.status}`)
      return performance.now() - startMs
    }
    // The first job warms up the code.
    const [warm = '', ...measured] = ids
    console.log('reports of jobs with 10,000 trials; ms, median and worst, with goals')
    report('first report after the start', [await time(`${warm}/report`)], '<= 1500')
    const first: number[] = []
    const later: number[] = []
    for (const id of measured) first.push(await time(`${id}/report`))
    for (let i = 0; i < repeats; i++) for (const id of measured) later.push(await time(`${id}/report`))
    report('first report of a job', first, '<= 1500')
    report('later reports', later, '<= 100')
    const comparison = `compare/report?jobs=${measured.slice(0, 2).join(',')}`
    report('first comparison of two jobs', [await time(comparison)])
    const again: number[] = []
    for (let i = 0; i < repeats; i++) again.push(await time(comparison))
    report('later comparisons', again, '<= 100')
  } finally {
    await product.stop()
  }
}
