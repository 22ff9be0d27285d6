// Decodes V2 compressed HdrHistograms, one base64 text per line on stdin, with
// hdr-histogram-js, and prints their figures as a line of JSON each.
//
// The rank of a percentile is rounded to the nearest by the Go implementation
// of HdrHistogram, and up by this one: p90 of 106 values is the 95th or the
// 96th. So values are asked for by the rank that results define.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const hdr = createRequire(process.argv[2] + '/')('hdr-histogram-js');
for await (const line of createInterface({ input: process.stdin })) {
  const h = hdr.decodeFromCompressedBase64(line, 64);
  const n = h.totalCount;
  const at = (permille) => h.getValueAtPercentile((100 * Math.max(1, Math.floor((n * permille) / 1000 + 0.5))) / n);
  console.log(JSON.stringify({ count: n, p50: at(500), p90: at(900), p99: at(990), p999: at(999), max: h.maxValue }));
}
