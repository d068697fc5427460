import java.util.List;
import java.util.stream.Collectors;

public class Main {
    public static void main(String[] args) throws Exception {
        List<Double> temperatures = Reader.read(args[0]);
        String pattern = temperatures.stream().map(t -> t < 25 ? "." : "w").collect(Collectors.joining());
        int longest = 0;
        for (String spell : pattern.split("\\.+")) {
            longest = Math.max(longest, spell.length());
        }
        double mean = temperatures.stream().mapToDouble(Double::doubleValue).average().orElse(0);
        System.out.println("longest: " + longest + "\nmean: " + Math.round(mean * 10) / 10.0);
    }
}
