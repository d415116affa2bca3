"""A benchmark, a metric, a judge, a tool and a command of another distribution."""
