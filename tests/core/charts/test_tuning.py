"""The loss curve: both lines, none for a look without a training loss."""

from evenhand.core.charts.lines import loss_curve


def test_training_and_held_out_loss_have_different_dashes() -> None:
    points = [{"step": 5, "loss": None, "held_out_loss": 3.0}, {"step": 10, "loss": 2.5, "held_out_loss": 2.9}]
    spec = loss_curve(points, description="Loss falls.").to_dict()
    rows = next(iter(spec["datasets"].values())) if "datasets" in spec else spec["layer"][0]["data"]["values"]
    assert [(row["step"], row["kind"]) for row in rows] == [
        (10, "training"),
        (5, "held-out text"),
        (10, "held-out text"),
    ]
    assert spec["description"] == "Loss falls."
    assert spec["layer"][0]["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [9, 3]]
