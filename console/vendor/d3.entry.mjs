// What console/vendor/d3.js exports: scales, time axes, zoom and drag. Lab time is in UTC, so there are no local times.
export { bisector, extent } from "d3-array";
export { drag } from "d3-drag";
export { easeCubicInOut } from "d3-ease";
export { interpolateNumber } from "d3-interpolate";
export { scaleBand, scaleLinear, scaleLog, scalePoint, scaleUtc } from "d3-scale";
export { pointer, select } from "d3-selection";
export {
  utcDay,
  utcHour,
  utcMinute,
  utcMonday,
  utcMonth,
  utcSecond,
  utcTickInterval,
  utcTicks,
  utcYear,
} from "d3-time";
export { utcFormat } from "d3-time-format";
export { zoom, zoomIdentity, zoomTransform } from "d3-zoom";
