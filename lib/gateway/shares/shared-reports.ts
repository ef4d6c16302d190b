import type { Share, ShareKind } from '#lib/protocol/shares.ts'
import { HttpError } from '../http/handle-request.ts'
import { compareHtmlOf, parseCompareReport } from '../reports/compare-report.ts'
import type { Provenance } from '../reports/html/document.ts'
import { jobHtmlOf, parseJobReport } from '../reports/job-report.ts'
import type { JobSource } from '../reports/job-source.ts'
import { parseTrendReport, trendHtmlOf } from '../reports/trend-report.ts'

type Params = Share['params']

interface SharedReport {
  /** Jobs that the parameters name. Throws 400 for parameters that the report's own route refuses. */
  jobsOf: (params: Params) => readonly string[]
  html: (source: JobSource, params: Params, provenance: Provenance) => Promise<string>
}

const jobQuery = ({ job = '', ...choice }: Params) => {
  if (job === '') throw new HttpError('invalid_argument', 'params.job must be a job ID', { field: 'params.job' })
  return parseJobReport(job, new URLSearchParams(choice)).query
}
const compareQuery = (params: Params) => parseCompareReport(new URLSearchParams(params)).query
const trendQuery = (params: Params) => parseTrendReport(new URLSearchParams(params)).query

export const sharedReports: Record<ShareKind, SharedReport> = {
  job: {
    jobsOf: (params) => [jobQuery(params).job],
    html: (source, params, provenance) => jobHtmlOf(source, jobQuery(params), provenance),
  },
  comparison: {
    jobsOf: (params) => compareQuery(params).jobs,
    html: (source, params, provenance) => compareHtmlOf(source, compareQuery(params), provenance),
  },
  trend: {
    jobsOf: (params) => [trendQuery(params).job],
    html: (source, params, provenance) => trendHtmlOf(source, trendQuery(params), provenance),
  },
}
