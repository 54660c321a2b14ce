"""The networkx graph of a net: single assignment, positions, marks."""

import networkx as nx

import netdsl as nd


def test_versions_make_an_in_place_net_acyclic() -> None:
    net = nd.Net("n")
    net.input("x", (2, 3))
    net.FC(["x", "w", "b"], "y")
    net.Relu("y", "y")
    net.output("y")
    graph = net.graph()
    assert nx.is_directed_acyclic_graph(graph)
    assert list(graph.successors(("op", 0))) == [("blob", "y", 1)]
    assert list(graph.successors(("op", 1))) == [("blob", "y", 2)]
    assert graph.edges[("blob", "b", 0), ("op", 0)] == {"inputs": (2,)}
    assert graph.nodes["blob", "y", 2]["is_output"]
    assert not graph.nodes["blob", "y", 1]["is_output"]
    assert graph.nodes["blob", "x", 0]["is_input"]
    assert graph.nodes["op", 0]["type"] == "FC"


def test_one_blob_read_twice_keeps_both_positions() -> None:
    net = nd.Net("n")
    net.Mul(["x", "x"], "y")
    graph = net.graph()
    assert graph.edges[("blob", "x", 0), ("op", 0)] == {"inputs": (0, 1)}
    assert graph.edges[("op", 0), ("blob", "y", 1)] == {"outputs": (0,)}
