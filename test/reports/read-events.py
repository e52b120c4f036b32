"""Opens a log folder with the real tensorboard package and an exposition with the real Prometheus client; prints what they see as JSON."""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

log_dir, exposition = sys.argv[1:3]
events = EventAccumulator(log_dir, size_guidance={"scalars": 0, "histograms": 0, "compressedHistograms": 1})
events.Reload()
tags = events.Tags()
with open(exposition, encoding="utf-8") as file:
    families = [[family.name, family.type, len(family.samples)] for family in text_string_to_metric_families(file.read())]
json.dump(
    {
        "scalars": {tag: [[e.wall_time, e.step, e.value] for e in events.Scalars(tag)] for tag in tags["scalars"]},
        "histograms": {
            tag: [
                [e.wall_time, e.step, e.histogram_value.num, e.histogram_value.min, e.histogram_value.max, sum(e.histogram_value.bucket)]
                for e in events.Histograms(tag)
            ]
            for tag in tags["histograms"]
        },
        "families": families,
    },
    sys.stdout,
)
